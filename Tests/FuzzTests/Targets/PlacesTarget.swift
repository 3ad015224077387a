import BackgrounderAPI

@testable import Places

/// Reads a file as places and as a route, and checks the limits and ranges of what it accepts.
enum PlacesTarget {
    static func run(_ bytes: [UInt8]) {
        let path = MemoryFile.write(bytes)
        if let places = try? PlaceFile.read(path) {
            precondition(!places.isEmpty && places.count <= ImportLimits.places)
            places.forEach(check)
        }
        if let route = try? RouteFile.gpx(path) { check(route) }
        if let route = try? RouteFile.gtfs(path, trip: "t1") { check(route) }
    }

    private static func check(_ place: PlaceDefinition) {
        checkLabel(place.name)
        place.sourceId.map(checkLabel)
        precondition(place.tags.count <= ImportLimits.tags && Set(place.tags).count == place.tags.count)
        precondition(place.properties.count <= ImportLimits.properties)
        precondition(place.course.map { (0..<360).contains($0) } ?? true)
        precondition(place.tolerance.map { $0 > 0 && $0 <= 180 } ?? true)
        switch place.shape {
        case .circle(let center, let radius):
            precondition(radius > 0 && radius.isFinite)
            check([center])
        case .polygon(let rings):
            precondition(!rings.isEmpty && rings.allSatisfy { $0.count >= 3 })
            rings.forEach(check)
        case .line(let points, let width):
            precondition(width > 0 && width.isFinite && points.count >= 2)
            check(points)
        }
    }

    private static func check(_ route: RouteDefinition) {
        precondition(route.stops.count >= 2 && route.shape.count >= 2)
        precondition(zip(route.stops, route.stops.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
        check(route.stops.map(\.coordinate) + route.shape)
        guard let distances = route.shapeDistances else { return }
        precondition(distances.count == route.shape.count)
        precondition(zip(distances, distances.dropFirst()).allSatisfy { $0 <= $1 })
    }

    private static func check(_ coordinates: [Coordinate]) {
        precondition(
            coordinates.allSatisfy { (-90...90).contains($0.latitude) && (-180...180).contains($0.longitude) }
        )
    }

    private static func checkLabel(_ label: String) {
        precondition(!label.isEmpty && label.utf8.count <= ImportLimits.name)
        precondition(!label.utf8.contains { $0 < 0x20 || $0 == 0x7F })
    }
}
