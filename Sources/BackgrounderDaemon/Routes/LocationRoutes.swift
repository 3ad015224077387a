import BackgrounderAPI
import ControlServer
import LocationUpdates
import StateStore

extension Daemon {
    func addLocationRoutes(to router: inout ControlRouter, store: StateStore) {
        router.on(Routes.location) { _ in await locationStatus() }
        router.on(Routes.changeLocation) { request in
            try await change(request.body)
            return await locationStatus()
        }
        router.on(Routes.track, query: ["last"]) { request in
            let text = request.query("last") ?? "100"
            guard let last = Int(text), (1...100).contains(last) else {
                throw WireError(.invalid, "last=\(text) is no count of points", hint: "from 1 to 100")
            }
            return await location.track(last: last)
        }
        router.serveHistory { selection in
            guard let id = selection.trip else { return store.history(since: selection.since, until: selection.until) }
            let pages = try await store.history(ofTrip: id, since: selection.since, until: selection.until)
            guard let pages else {
                throw WireError(.notFound, "there is no trip \(id)", hint: "`backgrounder track trips` lists them")
            }
            return pages
        }
        router.on(Routes.trips, query: ["since", "until"]) { request in
            try await store.trips(since: request.time("since"), until: request.time("until"))
        }
        let imports = TrackImports(store: store)
        router.serveImport { request in try await imports.begin(request) }
    }

    /// All of `change`, or nothing of it.
    private func change(_ change: LocationChange) async throws {
        if let metres = change.distanceFilter, !(0...Double(Metres.maximum)).contains(metres) {
            throw WireError(.invalid, "distanceFilter \(metres) is no length", hint: Keys.distanceFilter.allowed)
        }
        if case .some(.some(let metres)) = change.maximumAccuracy, !(metres > 0 && metres <= Double(Metres.maximum)) {
            throw WireError(.invalid, "maximumAccuracy \(metres) is no length", hint: Keys.maximumAccuracy.allowed)
        }
        if change.updating == true { try modes.require(.location, attached: lifecycle.current.attached) }
        try await preferences.save(change)
        await location.apply(preferences.location)
        switch change.updating {
        case true: await location.startUpdatingLocation()
        case false: await location.stopUpdatingLocation()
        case nil: break
        }
    }
}
