import BackgrounderAPI

/// Collects a route from the points of a GPX file.
struct GPXRoute {
    private var shape: [Coordinate] = []
    private var trackCount = 0
    private var trackName: String?
    private var routePoints: [Coordinate] = []
    private var routeStops: [RouteDefinition.Stop] = []
    private var routeCount = 0
    private var routeName: String?
    private var waypointStops: [RouteDefinition.Stop] = []

    /// Reads all of `source` and returns its route.
    static func read(_ source: any ByteSource) throws(ImportFault) -> RouteDefinition {
        var route = GPXRoute()
        try GPXScanner.scan(source) { (item) throws(ImportFault) in
            do throws(ImportFault) { try route.receive(item) } catch {
                throw error.with(line: item.line)
            }
        }
        return try route.definition()
    }

    private mutating func receive(_ item: GPXItem) throws(ImportFault) {
        switch item.kind {
        case .track:
            trackCount += 1
            trackName = item.texts["name"]
            guard trackCount == 1 else { throw ImportFault(.unsuitable("a second track; keep the one of the route")) }
        case .route:
            routeCount += 1
            routeName = item.texts["name"]
            guard routeCount == 1 else { throw ImportFault(.unsuitable("a second route; keep one")) }
        case .trackPoint: try Self.append(try item.coordinate(), to: &shape)
        case .routePoint:
            let coordinate = try item.coordinate()
            try Self.append(coordinate, to: &routePoints)
            try Self.appendStop(item, coordinate, to: &routeStops)
        case .waypoint: try Self.appendStop(item, try item.coordinate(), to: &waypointStops)
        }
    }

    private static func append(_ coordinate: Coordinate, to list: inout [Coordinate]) throws(ImportFault) {
        guard list.count < ImportLimits.vertices else {
            throw ImportFault(.tooMany("positions", limit: ImportLimits.vertices, remedy: "simplify the track"))
        }
        list.append(coordinate)
    }

    /// Appends a stop unless the point has no name.
    private static func appendStop(
        _ item: GPXItem,
        _ coordinate: Coordinate,
        to list: inout [RouteDefinition.Stop]
    ) throws(ImportFault) {
        guard let text = item.texts["name"] else { return }
        let name = try PlaceCollector.label(text, "the name", limit: ImportLimits.name)
        guard list.count < ImportLimits.stops else {
            throw ImportFault(.tooMany("stops", limit: ImportLimits.stops, remedy: "keep those of one trip"))
        }
        list.append(RouteDefinition.Stop(sequence: list.count + 1, name: name, coordinate: coordinate))
    }

    private func definition() throws(ImportFault) -> RouteDefinition {
        let stops = routeStops.isEmpty ? waypointStops : routeStops
        let line = shape.isEmpty ? routePoints : shape
        guard line.count >= 2 else {
            throw ImportFault(.unsuitable("no track or route with 2 points; add a trk or rte"))
        }
        guard stops.count >= 2 else {
            throw ImportFault(.unsuitable("fewer than 2 stops; name the points of the route, or add waypoints"))
        }
        let name = try (routeName ?? trackName).map { (text) throws(ImportFault) in
            try PlaceCollector.label(text, "the name", limit: ImportLimits.name)
        }
        return RouteDefinition(name: name, stops: stops, shape: line)
    }
}
