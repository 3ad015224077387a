import BackgrounderAPI

extension GTFSFeed {
    /// Returns the trip with the id `trip`.
    func route(trip: String) throws(ImportFault) -> RouteDefinition {
        let record = try tripRecord(trip)
        let visits = try visits(of: trip)
        let places = try stopPlaces(Set(visits.map(\.stopId)))
        var stops: [RouteDefinition.Stop] = []
        for visit in visits {
            guard let place = places[visit.stopId] else {
                throw ImportFault(
                    .unsuitable("the stop \(quoted(visit.stopId)) is not in stops.txt; export the feed again"),
                    line: visit.line,
                    entry: "stop_times.txt"
                )
            }
            stops.append(
                RouteDefinition.Stop(
                    sequence: visit.sequence,
                    name: place.name,
                    sourceId: visit.stopId,
                    coordinate: place.coordinate,
                    arrival: visit.arrival,
                    departure: visit.departure,
                    shapeDistance: visit.shapeDistance
                )
            )
        }
        var route = RouteDefinition(
            name: try record.routeId.flatMap { (id) throws(ImportFault) in try routeName(id) },
            headsign: record.headsign,
            tripId: trip,
            stops: stops,
            shape: stops.map(\.coordinate)
        )
        if let shape = record.shapeId, has("shapes.txt") {
            (route.shape, route.shapeDistances) = try line(of: shape)
        } else if stops.allSatisfy({ $0.shapeDistance != nil }) {
            route.shapeDistances = stops.compactMap(\.shapeDistance)
        }
        return route
    }

    // MARK: - trips.txt and routes.txt

    private struct TripRecord {
        var routeId: String?
        var headsign: String?
        var shapeId: String?
    }

    private func tripRecord(_ trip: String) throws(ImportFault) -> TripRecord {
        var found: TripRecord?
        try scan("trips.txt", required: ["trip_id"]) { (table) throws(ImportFault) in
            let (id, route) = (table.column("trip_id"), table.column("route_id"))
            let (headsign, shape) = (table.column("trip_headsign"), table.column("shape_id"))
            while try table.next() {
                guard try table.text(id) == trip else { continue }
                guard found == nil else {
                    throw ImportFault(.unsuitable("a second trip \(quoted(trip)); remove one"), line: table.line)
                }
                found = TripRecord(
                    routeId: try table.text(route),
                    headsign: try table.text(headsign),
                    shapeId: try table.text(shape)
                )
            }
        }
        guard let found else {
            throw ImportFault(.unsuitable("no trip \(quoted(trip)); use a trip_id of the file"), entry: "trips.txt")
        }
        return found
    }

    /// Returns the short name of a route, or its long one; `nil` if the feed has neither.
    private func routeName(_ route: String) throws(ImportFault) -> String? {
        guard has("routes.txt") else { return nil }
        var found: String?
        try scan("routes.txt", required: ["route_id"]) { (table) throws(ImportFault) in
            let (id, short) = (table.column("route_id"), table.column("route_short_name"))
            let long = table.column("route_long_name")
            while try table.next() {
                guard try table.text(id) == route else { continue }
                found = try table.text(short)
                if found == nil { found = try table.text(long) }
            }
        }
        return found
    }

    // MARK: - stop_times.txt

    private struct Visit {
        var sequence: Int
        var stopId: String
        var arrival: Int?
        var departure: Int?
        var shapeDistance: Double?
        var line: Int
    }

    /// Returns the visits of a trip in their order. They may stand anywhere in the table.
    private func visits(of trip: String) throws(ImportFault) -> [Visit] {
        var visits: [Visit] = []
        let wanted = Array(trip.replacing("\"", with: "\"\"").utf8)
        try scan("stop_times.txt", required: ["trip_id", "stop_id", "stop_sequence"]) { (table) throws(ImportFault) in
            let (sequence, stop) = (table.column("stop_sequence"), table.column("stop_id"))
            let (arrival, departure) = (table.column("arrival_time"), table.column("departure_time"))
            let distance = table.column("shape_dist_traveled")
            guard let id = table.column("trip_id") else { return }
            while try table.next() {
                guard table.matches(id, wanted) else { continue }
                guard visits.count < ImportLimits.stops else {
                    throw ImportFault(
                        .tooMany("stops of a trip", limit: ImportLimits.stops, remedy: "check the feed"),
                        line: table.line
                    )
                }
                visits.append(
                    Visit(
                        sequence: try table.integer(sequence, "stop_sequence"),
                        stopId: try table.required(stop, "stop_id"),
                        arrival: try table.time(arrival, "arrival_time"),
                        departure: try table.time(departure, "departure_time"),
                        shapeDistance: try table.number(distance, "shape_dist_traveled"),
                        line: table.line
                    )
                )
            }
        }
        visits.sort { ($0.sequence, $0.line) < ($1.sequence, $1.line) }
        for (visit, next) in zip(visits, visits.dropFirst()) where visit.sequence == next.sequence {
            throw ImportFault(
                .duplicate(
                    "stop_sequence",
                    value: "\(next.sequence)",
                    first: "line \(visit.line)",
                    remedy: "export the feed again"
                ),
                line: next.line,
                entry: "stop_times.txt"
            )
        }
        guard visits.count >= 2 else {
            throw ImportFault(
                .unsuitable("the trip \(quoted(trip)) has fewer than 2 stops; choose another trip"),
                entry: "stop_times.txt"
            )
        }
        return visits
    }

    // MARK: - stops.txt

    /// Returns the names and positions of the stops with the given ids.
    private func stopPlaces(_ ids: Set<String>) throws(ImportFault) -> [String: (name: String, coordinate: Coordinate)]
    {
        var places: [String: (name: String, coordinate: Coordinate)] = [:]
        let columns = ["stop_id", "stop_name", "stop_lat", "stop_lon"]
        try scan("stops.txt", required: columns) { (table) throws(ImportFault) in
            let stops = GTFSStopColumns(table)
            while try table.next() {
                let id = try stops.id(table)
                guard ids.contains(id) else { continue }
                do throws(ImportFault) {
                    let place = (name: try stops.name(table), coordinate: try stops.coordinate(table))
                    guard places.updateValue(place, forKey: id) == nil else {
                        throw ImportFault(.unsuitable("the stop appears twice; remove one"))
                    }
                } catch {
                    throw error.with(line: table.line, item: "stop \(quoted(id))")
                }
            }
        }
        return places
    }

    // MARK: - shapes.txt

    /// Returns the positions of a shape in their order, and their distances if all have one.
    private func line(of shape: String) throws(ImportFault) -> ([Coordinate], [Double]?) {
        var points: [(sequence: Int, coordinate: Coordinate, distance: Double?, line: Int)] = []
        let wanted = Array(shape.replacing("\"", with: "\"\"").utf8)
        let columns = ["shape_id", "shape_pt_lat", "shape_pt_lon", "shape_pt_sequence"]
        try scan("shapes.txt", required: columns) { (table) throws(ImportFault) in
            let (latitude, longitude) = (table.column("shape_pt_lat"), table.column("shape_pt_lon"))
            let (sequence, distance) = (table.column("shape_pt_sequence"), table.column("shape_dist_traveled"))
            guard let id = table.column("shape_id") else { return }
            while try table.next() {
                guard table.matches(id, wanted) else { continue }
                guard points.count < ImportLimits.vertices else {
                    throw ImportFault(
                        .tooMany("positions of a shape", limit: ImportLimits.vertices, remedy: "simplify it"),
                        line: table.line
                    )
                }
                do throws(ImportFault) {
                    points.append(
                        (
                            try table.integer(sequence, "shape_pt_sequence"),
                            try PlaceNumber.coordinate(
                                latitude: table.bytes(latitude),
                                longitude: table.bytes(longitude)
                            ),
                            try table.number(distance, "shape_dist_traveled"),
                            table.line
                        )
                    )
                } catch {
                    throw error.with(line: table.line)
                }
            }
        }
        points.sort { ($0.sequence, $0.line) < ($1.sequence, $1.line) }
        guard points.count >= 2 else {
            throw ImportFault(
                .unsuitable("the shape \(quoted(shape)) has fewer than 2 positions; export the feed again"),
                entry: "shapes.txt"
            )
        }
        for (point, next) in zip(points, points.dropFirst()) {
            if point.sequence == next.sequence {
                throw ImportFault(
                    .duplicate(
                        "shape_pt_sequence",
                        value: "\(next.sequence)",
                        first: "line \(point.line)",
                        remedy: "export the feed again"
                    ),
                    line: next.line,
                    entry: "shapes.txt"
                )
            }
            if let distance = point.distance, let following = next.distance, following < distance {
                throw ImportFault(
                    .invalid(
                        "the shape_dist_traveled",
                        value: "\(following)",
                        expected: "at least that of line \(point.line)"
                    ),
                    line: next.line,
                    entry: "shapes.txt"
                )
            }
        }
        let distances = points.compactMap(\.distance)
        return (points.map(\.coordinate), distances.count == points.count ? distances : nil)
    }
}
