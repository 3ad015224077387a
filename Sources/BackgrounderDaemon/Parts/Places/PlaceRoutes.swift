import BackgrounderAPI
import ControlServer
import FoundationEssentials
import Places
import StateStore
import SystemSupport

extension PlacesPart {
    func addRoutes(to router: inout ControlRouter) {
        let conditions: Set = ["after", "count", "name", "tag", "source", "near", "within", "inside"]
        router.on(Routes.places, query: conditions) { [self] request in try await places(request) }
        router.on(Routes.addPlace) { [self] request in try await add(request.body) }
        router.on(Routes.place) { [self] request in
            let id = try request.id
            guard let place = try await context.store.place(id) else { throw Self.noPlace(id) }
            return await present([place])[0]
        }
        router.on(Routes.removePlace) { [self] request in
            let id = try request.id
            guard try await context.store.removePlaces([id]) == 1 else { throw Self.noPlace(id) }
            try await placesChanged([id])
            return Empty()
        }
        router.on(Routes.changePlace) { [self] request in try await change(try request.id, request.body) }
        router.on(Routes.simulatePlace) { [self] request in try await simulate(try request.id, request.body.event) }
        router.on(Routes.placeRules) { [self] _ in try await rules() }
        router.on(Routes.placeRoute) { [self] _ in try await route() }
        router.on(Routes.followRoute) { [self] request in try await follow(request.body) }
        router.on(Routes.clearRoute) { [self] _ in
            _ = try await route()
            await observer.follow(nil)
            try await placesChanged(try await PlaceRoute.clear(in: context.store))
            return Empty()
        }
        router.on(Routes.importPlaces) { [self] request in try await importFile(request.body) }
        router.on(Routes.placeEvents, query: ["since", "until", "place", "last"]) { [self] request in
            try await context.store.placeEvents(
                count: try request.count("last", upTo: Routes.mostPlaces) ?? 100,
                since: request.time("since"),
                until: request.time("until"),
                place: request.query("place")
            )
        }
    }

    // MARK: Reading

    private func places(_ request: RouteRequest<Empty>) async throws -> [Place] {
        let store = context.store
        if let text = request.query("near") { return try await near(text, request) }
        if let name = request.query("name") { return await present(try await store.places(named: name)) }
        if request.query("inside") == "1" {
            let ids = await observer.visits().keys.sorted()
            return await present(try ids.isEmpty ? [] : await storedPlaces(ids))
        }
        return await present(
            try await store.places(
                after: try request.count("after", upTo: Int.max) ?? 0,
                count: try request.count("count", upTo: Routes.mostPlaces) ?? Routes.mostPlaces,
                tag: request.query("tag"),
                source: request.query("source")
            )
        )
    }

    private func storedPlaces(_ ids: [Int]) async throws -> [Place] {
        var places: [Place] = []
        for id in ids { if let place = try await context.store.place(id) { places.append(place) } }
        return places
    }

    /// Returns the places around a position, the nearest first.
    private func near(_ text: String, _ request: RouteRequest<Empty>) async throws -> [Place] {
        guard let center = Coordinate(text) else {
            throw WireError(.invalid, "near=\(text) is not a position", hint: "use LATITUDE,LONGITUDE in degrees")
        }
        let within = try request.number("within", in: 0...1_000_000) ?? 1000
        let boxes = GeographicBounds(around: center, within: within).withoutAntimeridian
        guard let found = try await context.store.places(overlapping: boxes, atMost: Self.mostNearby) else {
            throw WireError(
                .invalid,
                "there are more than \(Self.mostNearby) places within \(Int(within)) m",
                hint: "use a smaller distance"
            )
        }
        let nearby = found.compactMap { place -> (place: Place, distance: Double)? in
            guard let distance = place.distance(from: center), distance <= within else { return nil }
            return (place, distance)
        }
        let sorted = nearby.sorted { ($0.distance, $0.place.id) < ($1.distance, $1.place.id) }
        return await present(sorted.prefix(Routes.mostPlaces).map(\.place))
    }

    /// Adds where the machine is.
    private func present(_ places: [Place]) async -> [Place] {
        let visits = await observer.visits()
        return places.map { place in
            var place = place
            place.since = visits[place.id]
            place.inside = place.since != nil
            return place
        }
    }

    // MARK: Changing

    private func add(_ request: PlaceRequest) async throws -> Place {
        let definition = request.definition
        let bounds = try Self.bounds(of: definition)
        let known = try await context.store.places(named: definition.name).filter {
            $0.definition.source == nil
        }
        guard known.isEmpty || request.replace == true else {
            throw WireError(.conflict, "there is a place \(definition.name)", hint: "use --replace, or another name")
        }
        guard
            try await context.store.store([(definition, bounds)], of: nil, replacing: false) != nil,
            let place = try await context.store.places(named: definition.name).first(where: {
                $0.definition.source == nil
            })
        else { throw Self.tooMany }
        try await placesChanged(known.first.map { $0.definition.shape == definition.shape ? [] : [$0.id] } ?? [])
        return await present([place])[0]
    }

    private func importFile(_ request: PlaceImportRequest) async throws -> PlaceImport {
        guard request.path.hasPrefix("/") else {
            throw WireError(.invalid, "\(request.path) is not an absolute path", hint: "use a path that begins with /")
        }
        let source = request.source ?? String(request.path.split(separator: "/").last ?? "")
        guard (1...200).contains(source.utf8.count), source == source.withoutControlCharacters else {
            throw WireError(.invalid, "the source is not valid", hint: "use 1 to 200 bytes without control characters")
        }
        let places = try await reader.run { () throws(PlaceFileFault) in
            try PlaceFile.bounded(request.path, source: source)
        }
        guard
            let result = try await context.store.store(places, of: source, replacing: request.replace == true)
        else { throw Self.tooMany }
        try await placesChanged(result.reshaped)
        return result.counts
    }

    private func change(_ id: Int, _ patch: PlacePatch) async throws -> Place {
        guard let place = try await context.store.place(id) else { throw Self.noPlace(id) }
        let definition = patch.applied(to: place.definition)
        let bounds = try Self.bounds(of: definition)
        do {
            guard try await context.store.change(id, to: (definition, bounds)) else { throw Self.noPlace(id) }
        } catch is PlaceNameInUse {
            throw WireError(.conflict, "there is a place \(definition.name) of this source", hint: "use another name")
        }
        try await placesChanged(definition.shape == place.definition.shape ? [] : [id])
        return await present([Place(id: id, definition: definition)])[0]
    }

    /// Checks a place, and returns a box that contains it.
    private static func bounds(of definition: PlaceDefinition) throws(WireError) -> GeographicBounds {
        if let problem = definition.problem { throw WireError(.invalid, problem) }
        do throws(ShapeError) {
            return try MonitoredPlace(id: 0, definition).shape.bounds
        } catch {
            throw WireError(.invalid, error.description)
        }
    }

    // MARK: Route

    private func route() async throws -> PlaceRouteProgress {
        guard let route = await observer.route() else {
            throw WireError(.notFound, "no route", hint: "set one with `backgrounder place route set`")
        }
        return route
    }

    private func follow(_ request: PlaceRouteRequest) async throws -> PlaceRouteProgress {
        let (path, trip) = try request.origin
        guard path.hasPrefix("/") else {
            throw WireError(.invalid, "\(path) is not an absolute path", hint: "use a path that begins with /")
        }
        let definition = try await reader.run { () throws(PlaceFileFault) in
            if let trip { try RouteFile.gtfs(path, trip: trip) } else { try RouteFile.gpx(path) }
        }
        let followed: FollowedRoute
        do throws(RouteError) {
            followed = try FollowedRoute(definition)
        } catch {
            throw WireError(.invalid, "\(path): \(error)")
        }
        guard let (follower, reshaped) = try await PlaceRoute.set(definition, followed, in: context.store) else {
            throw Self.tooMany
        }
        try await placesChanged(reshaped)
        await observer.follow(follower)
        return try await route()
    }

    // MARK: Rules

    /// Makes rules judge an event in the middle of the place.
    private func simulate(_ id: Int, _ kind: PlaceEventKind) async throws -> PlaceEvent {
        guard let place = try await context.store.place(id) else { throw Self.noPlace(id) }
        guard let shape = try? Shape(place.definition.shape) else {
            throw WireError(.conflict, "the shape of the place \(id) is damaged", hint: "import or add it again")
        }
        let position = place.definition.shape.middle
        let distance = Position(position).map { shape.signedDistance(from: TangentPosition($0)) } ?? 0
        let event = PlaceEvent(
            id: 0,
            placeId: id,
            place: place.definition.name,
            event: kind,
            timestamp: Date(),
            latitude: position.latitude,
            longitude: position.longitude,
            distance: distance,
            simulated: true
        )
        let ruled = try await observer.simulate(event, at: place)
        return await actions.perform(ruled).first ?? event
    }

    private func rules() async throws -> [PlaceRuleDescription] {
        let list = await context.preferences.configuration.placeRules
        let problems = try await unknownNames(in: list)
        return list.rules.map { rule in
            var description = PlaceRuleDescription(rule)
            description.problems = problems.filter { $0.rule == rule.name }.map { "\($0.problem); \($0.remedy)" }
            return description
        }
    }

    /// The most places for which a search computes the distance.
    private static let mostNearby = 10_000

    private static func noPlace(_ id: Int) -> WireError {
        WireError(.notFound, "no place \(id)", hint: "`backgrounder place list` lists the ids")
    }

    private static let tooMany = WireError(
        .conflict,
        "there would be more than \(StateStore.mostPlaces) places",
        hint: "remove some with `backgrounder place remove`"
    )
}

extension Place {
    /// The distance from `position` to the boundary in metres, 0 inside.
    fileprivate func distance(from coordinate: Coordinate) -> Double? {
        guard let shape = try? Shape(definition.shape), let position = Position(coordinate) else { return nil }
        return max(0, -shape.signedDistance(from: TangentPosition(position)))
    }
}

extension RouteRequest {
    /// Returns the parameter `name` as a whole number; `nil` if it is absent.
    fileprivate func count(_ name: String, upTo limit: Int) throws(WireError) -> Int? {
        guard let text = query(name) else { return nil }
        guard let number = Int(text), (0...limit).contains(number) else {
            let allowed = limit == .max ? "a whole number" : "a whole number from 0 to \(limit)"
            throw WireError(.invalid, "\(name)=\(text) is not valid", hint: "use \(allowed)")
        }
        return number
    }

    /// Returns the parameter `name` as a number; `nil` if it is absent.
    fileprivate func number(_ name: String, in range: ClosedRange<Double>) throws(WireError) -> Double? {
        guard let text = query(name) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw WireError(
                .invalid,
                "\(name)=\(text) is not valid",
                hint: "use a number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }
}
