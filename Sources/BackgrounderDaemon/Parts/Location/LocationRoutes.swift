import BackgrounderAPI
import ControlServer
import LocationUpdates
import Logging
import StateStore
import SystemSupport

extension LocationPart {
    func addRoutes(to router: inout ControlRouter) {
        let store = context.store
        router.on(Routes.location) { _ in await status() }
        router.on(Routes.changeLocation) { request in
            try await change(request.body)
            return await status()
        }
        router.on(Routes.track, query: ["last"]) { request in
            let text = request.query("last") ?? "100"
            guard let last = Int(text), (1...100).contains(last) else {
                throw WireError(.invalid, "last=\(text) is out of range", hint: "use a whole number from 1 to 100")
            }
            return await manager.track(last: last)
        }
        router.serveHistory { selection in
            guard let id = selection.trip else { return store.history(since: selection.since, until: selection.until) }
            let pages = try await store.history(ofTrip: id, since: selection.since, until: selection.until)
            guard let pages else {
                throw WireError(.notFound, "no trip \(id)", hint: "`backgrounder track trips` lists them")
            }
            return pages
        }
        router.on(Routes.trips, query: ["since", "until"]) { request in
            try await store.trips(since: request.time("since"), until: request.time("until"))
        }
        let lines = TrackLines(store: store)
        router.on(Routes.trackLine, query: ["since", "until", "trip", "bbox", "zoom"]) { try await lines.line($0) }
        router.on(Routes.deleteHistory, query: ["since", "until", "trip", "trial"]) { request in
            try await deleteHistory(request)
        }
        let imports = TrackImports(store: store)
        router.serveImport { request in try await imports.begin(request) }
    }

    private func deleteHistory(_ request: RouteRequest<Empty>) async throws -> DeletionReply {
        let store = context.store
        let (since, until) = (try request.time("since"), try request.time("until"))
        let trip = try request.query("trip").map { text throws(WireError) in
            guard let trip = Int(text) else {
                throw WireError(.invalid, "trip=\(text) is not a trip id", hint: "use a whole number")
            }
            return trip
        }
        guard since != nil || until != nil || trip != nil else {
            throw WireError(.invalid, "the range of points is missing", hint: "use since, until or trip")
        }
        let isTrial = request.query("trial") ?? "0"
        guard ["0", "1"].contains(isTrial) else {
            throw WireError(.invalid, "trial=\(isTrial) is not valid", hint: "use 0 or 1")
        }
        func delete(upTo newest: Int64, isTrial: Bool) async throws -> DeletionReply {
            let reply = try await store.deletePoints(
                since: since,
                until: until,
                ofTrip: trip,
                upTo: newest,
                isTrial: isTrial,
                findTrips: TripRecorder.trips(in:)
            )
            guard let reply else {
                throw WireError(
                    .notFound,
                    "no trip \(trip ?? 0)",
                    hint: "`backgrounder track trips` lists them"
                )
            }
            return reply
        }
        let trial = try await delete(upTo: store.newestPoint(), isTrial: true)
        if isTrial == "1" || trial.points == 0 { return trial }
        // Points that arrive meanwhile are kept.
        let newest = try await manager.forgetLastPosition { try await store.newestPoint() }
        let reply = try await delete(upTo: newest, isTrial: false)
        try await manager.reloadTrack { try store.newestLocations(Track.capacity) }
        let (points, trips) = (counted(reply.points, "point"), counted(reply.trips, "trip"))
        context.logger.notice("Deleted \(points) of \(trips) on request")
        return reply
    }

    /// Applies all of `change`, or nothing of it.
    private func change(_ change: LocationChange) async throws {
        if let metres = change.distanceFilter, !(0...Double(Metres.maximum)).contains(metres) {
            throw WireError(
                .invalid,
                "distanceFilter \(metres) is out of range",
                hint: "use \(Keys.distanceFilter.allowed)"
            )
        }
        if case .some(.some(let metres)) = change.maximumAccuracy, !(metres > 0 && metres <= Double(Metres.maximum)) {
            throw WireError(
                .invalid,
                "maximumAccuracy \(metres) is out of range",
                hint: "use \(Keys.maximumAccuracy.allowed)"
            )
        }
        if change.updating == true {
            if let reason = await offReason {
                throw WireError(
                    .conflict,
                    "the location mode is off: \(reason)",
                    hint: "then run `backgrounder reload`"
                )
            }
            try context.require(.location)
        }
        try await context.preferences.save(change)
        await manager.apply(context.preferences.location)
        switch change.updating {
        case true: await manager.startUpdatingLocation()
        case false: await manager.stopUpdatingLocation()
        case nil: break
        }
    }
}
