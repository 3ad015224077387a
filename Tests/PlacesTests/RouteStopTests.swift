import BackgrounderAPI
import Places
import PlacesSimulation
import Testing

/// Where on the shape the stops of a route are.
@Suite struct RouteStopTests {
    private func distances(
        _ shape: [GroundPoint],
        _ stops: [GroundPoint],
        stated: [Double]? = nil,
        units: [Double]? = nil
    ) throws -> [Int] {
        var definition = RouteScript.definition((shape, stops))
        definition.shapeDistances = units
        for (index, distance) in (stated ?? []).enumerated() { definition.stops[index].shapeDistance = distance }
        return try FollowedRoute(definition).stops.map { Int($0.distance.rounded()) }
    }

    private let square = [
        GroundPoint(0, 0), GroundPoint(400, 0), GroundPoint(400, 400), GroundPoint(0, 400), GroundPoint(0, 0),
    ]

    @Test func `a loop visits its first stop again at its end`() throws {
        let stops = [GroundPoint(0, 0), GroundPoint(400, 200), GroundPoint(0, 0)]
        #expect(try distances(square, stops) == [0, 600, 1_600])
    }

    @Test func `a stop at a position of the shape is found`() throws {
        let stops = [GroundPoint(0, 0), GroundPoint(400, 0), GroundPoint(400, 400)]
        #expect(try distances(square, stops) == [0, 400, 800])
    }

    @Test func `stops of a way out and back are on their side of the street`() throws {
        let shape = [GroundPoint(0, 0), GroundPoint(1_000, 0), GroundPoint(0, 0)]
        let stops = [GroundPoint(100, -8), GroundPoint(600, -8), GroundPoint(600, 8), GroundPoint(100, 8)]
        #expect(try distances(shape, stops) == [100, 600, 1_400, 1_900])
        // Each of two stops alone could be on the way out.
        #expect(try distances(shape, [stops[0], stops[2]]) == [100, 1_400])
        // Traffic on the left.
        let left = stops.map { GroundPoint($0.east, -$0.north) }
        #expect(try distances(shape, left) == [100, 600, 1_400, 1_900])
    }

    @Test func `distances of the file decide between passages`() throws {
        let shape = [GroundPoint(0, 0), GroundPoint(1_000, 0), GroundPoint(0, 0)]
        let stops = [GroundPoint(100, 0), GroundPoint(600, 0)]
        #expect(try distances(shape, stops, stated: [0.1, 1.4], units: [0, 1, 2]) == [100, 1_400])
        #expect(try distances(shape, stops, stated: [0.1, 0.6], units: [0, 1, 2]) == [100, 600])
    }

    @Test func `distances that do not fit the shape are not used`() throws {
        let shape = [GroundPoint(0, 0), GroundPoint(1_000, 0)]
        let stops = [GroundPoint(100, 0), GroundPoint(600, 0)]
        #expect(try distances(shape, stops, stated: [0.9, 0.95], units: [0, 1]) == [100, 600])
        #expect(try distances(shape, stops, stated: [0.9, .nan], units: [0, 1]) == [100, 600])
    }

    @Test func `the fingerprint changes with the shape, the stops and the trip`() throws {
        let line = RouteScript.street
        let definition = RouteScript.definition(line)
        let fingerprint = try FollowedRoute(definition).fingerprint
        #expect(try FollowedRoute(definition).fingerprint == fingerprint)
        var trip = definition
        trip.tripId = "t"
        #expect(try FollowedRoute(trip).fingerprint != fingerprint)
        var shape = definition
        shape.shape.append(GroundPoint(2_100, 0).coordinate)
        #expect(try FollowedRoute(shape).fingerprint != fingerprint)
        var stops = definition
        stops.stops.removeLast()
        #expect(try FollowedRoute(stops).fingerprint != fingerprint)
    }

    @Test func `a shape may cross the antimeridian`() throws {
        let shape = [Coordinate(latitude: 0, longitude: 179.99), Coordinate(latitude: 0, longitude: -179.99)]
        let stops = shape.enumerated().map {
            RouteDefinition.Stop(sequence: $0.offset, name: "S", coordinate: $0.element)
        }
        let route = try FollowedRoute(RouteDefinition(stops: stops, shape: shape))
        #expect(abs(route.length - 2_226.4) < 1)
        #expect(route.stops.map { Int($0.distance) } == [0, Int(route.length)])
    }
}
