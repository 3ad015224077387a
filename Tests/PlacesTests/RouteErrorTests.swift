import BackgrounderAPI
import PlacesSimulation
import Testing

@testable import Places

@Suite struct RouteErrorTests {
    private func refusal(_ shape: [Coordinate], _ stops: [Coordinate], distances: [Double]? = nil) -> String? {
        let stops = stops.enumerated().map { index, coordinate in
            RouteDefinition.Stop(sequence: index, name: "S\(index + 1)", coordinate: coordinate)
        }
        let definition = RouteDefinition(stops: stops, shape: shape, shapeDistances: distances)
        do throws(RouteError) {
            _ = try FollowedRoute(definition)
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func refusal(_ shape: [GroundPoint], _ stops: [GroundPoint], distances: [Double]? = nil) -> String? {
        refusal(shape.map(\.coordinate), stops.map(\.coordinate), distances: distances)
    }

    private let shape = [GroundPoint(0, 0), GroundPoint(1_000, 0)]
    private let stops = [GroundPoint(0, 0), GroundPoint(900, 0)]

    @Test func `a route with a shape that passes its stops is accepted`() {
        #expect(refusal(shape, stops) == nil)
    }

    @Test func `fewer than two stops are refused`() {
        #expect(refusal(shape, []) == "the route has 0 stops; give at least 2")
        #expect(refusal(shape, [GroundPoint(0, 0)]) == "the route has 1 stops; give at least 2")
    }

    @Test func `more than 10,000 stops are refused`() {
        let stops = Array(repeating: GroundPoint(0, 0), count: 10_001)
        #expect(refusal(shape, stops) == "the route has 10001 stops; split it, 10000 are possible")
    }

    @Test func `more than 200,000 positions are refused`() {
        let shape = Array(repeating: Coordinate(latitude: 1, longitude: 1), count: 200_001)
        #expect(
            refusal(shape, [shape[0], shape[0]])
                == "the shape has 200001 positions; simplify it to at most 200000"
        )
    }

    @Test func `a position that is not on the Earth is refused`() {
        let (good, bad) = (Coordinate(latitude: 1, longitude: 1), Coordinate(latitude: 91, longitude: 1))
        #expect(
            refusal([good, bad], [good, good])
                == "position 2 of the shape is latitude 91.0, longitude 1.0; latitudes go from -90 to 90, "
                + "longitudes from -180 to 180"
        )
        let unknown = Coordinate(latitude: .nan, longitude: 181)
        #expect(
            refusal([unknown, good], [good, good])
                == "position 1 of the shape is latitude nan, longitude 181.0; latitudes go from -90 to 90, "
                + "longitudes from -180 to 180"
        )
    }

    @Test func `a stop that is not on the Earth is refused`() {
        let shape = [Coordinate(latitude: 1, longitude: 1), Coordinate(latitude: 2, longitude: 1)]
        #expect(
            refusal(shape, [shape[0], Coordinate(latitude: 1, longitude: .infinity)])
                == "stop 2 (S2) is at latitude 1.0, longitude inf; latitudes go from -90 to 90, "
                + "longitudes from -180 to 180"
        )
    }

    @Test func `a shape without length is refused`() {
        #expect(
            refusal([GroundPoint(0, 0), GroundPoint(0, 0)], stops)
                == "the shape has no length: its 2 positions are the same; give at least 2 different ones"
        )
        #expect(
            refusal([], stops)
                == "the shape has no length: its 0 positions are the same; give at least 2 different ones"
        )
    }

    @Test func `a shape longer than 10,000 km is refused`() {
        let shape = [0.0, 60, 120].map { Coordinate(latitude: 0, longitude: $0) }
        #expect(
            refusal(shape, [shape[0], shape[1]])?
                .hasSuffix(" km long; split it, 10000 km are possible") == true
        )
        #expect(
            RouteError.tooLong(metres: 13_358_338.9).description
                == "the shape is 13358 km long; split it, 10000 km are possible"
        )
    }

    @Test func `a stop far from the shape is refused`() {
        #expect(
            refusal(shape, [GroundPoint(0, 0), GroundPoint(500, 300)])
                == "stop 2 (S2) is 300 m from the shape; move it to within 200 m, or correct the shape"
        )
        #expect(refusal(shape, [GroundPoint(0, 0), GroundPoint(500, 195)]) == nil)
    }

    @Test func `stops against the direction of the shape are refused`() {
        #expect(
            refusal(shape, [GroundPoint(900, 0), GroundPoint(100, 0)])
                == "the shape does not pass stop 2 (S2) after the stops before it; correct the order or the shape"
        )
    }

    @Test func `a shape that passes the stops too often is refused`() throws {
        var along: [Double] = []
        let turns = (0..<200).map { GroundPoint($0 % 2 == 0 ? 0 : 100, 0).coordinate }
        let shape = try RouteShape(turns, along: &along)
        let stop = RouteDefinition.Stop(sequence: 1, name: "S", coordinate: GroundPoint(50, 0).coordinate)
        let error = #expect(throws: RouteError.self) {
            _ = try StopAssignment([stop, stop], on: shape, comparisons: 300)
        }
        #expect(
            error?.description == "the shape passes the stops too often to find their order; simplify it"
        )
    }

    @Test(arguments: [[0], [0, .nan], [0, .infinity], [5, 4]])
    func `distances that are missing, not finite or decreasing are refused`(distances: [Double]) {
        #expect(
            refusal(shape, stops, distances: distances)
                == "the distance of position 2 of the shape is missing, not finite or lower than the one before; "
                + "correct or remove the distances"
        )
    }
}
