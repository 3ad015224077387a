import BackgrounderAPI
import FoundationEssentials
import TestSupport
import Testing

@testable import BackgrounderCommands

@Suite struct TrackDrawingTests {
    private func track(_ points: [(Double, Double)], starts: Set<Int> = [0]) -> [Location] {
        points.enumerated().map { index, point in
            Location(
                latitude: point.0,
                longitude: point.1,
                timestamp: Date(timeIntervalSince1970: Double(index)),
                segmentStart: starts.contains(index) ? true : nil
            )
        }
    }

    @Test func `a line to the north is vertical, and one to the east is horizontal`() {
        let north = TrackDrawing(track([(0, 0), (0.001, 0)])).render(columns: 7, rows: 4)
        #expect(
            north.dropLast() == ["   ⢸   ", "   ⢸   ", "   ⢸   "]
                || north.dropLast() == ["   ⡇   ", "   ⡇   ", "   ⡇   "]
        )
        let east = TrackDrawing(track([(0, 0), (0, 0.001)])).render(columns: 5, rows: 2)
        #expect(east.first.map { Set($0).count } == 1)
        #expect(east.first?.contains(" ") == false)
    }

    @Test func `north is up and east is right`() throws {
        let lines = TrackDrawing(track([(0, 0), (0.001, 0.001)])).render(columns: 8, rows: 5)
        let top = try #require(lines.first).firstIndex { $0 != " " }
        let bottom = try #require(lines.dropLast().last).firstIndex { $0 != " " }
        let columns = try (
            lines[0].distance(from: lines[0].startIndex, to: #require(top)),
            lines[3].distance(from: lines[3].startIndex, to: #require(bottom))
        )
        #expect(columns.0 > columns.1)
    }

    @Test func `nothing is drawn between two segments`() {
        let points = [(0.0, 0.0), (0.001, 0.0), (0.0, 0.01), (0.001, 0.01)]
        let joined = TrackDrawing(track(points)).render(columns: 20, rows: 4).dropLast().joined()
        let apart = TrackDrawing(track(points, starts: [0, 2])).render(columns: 20, rows: 4).dropLast().joined()
        #expect(apart.count { $0 != " " } < joined.count { $0 != " " })
        #expect(apart.count { $0 != " " } > 0)
    }

    @Test(arguments: [(4, 2), (7, 3), (37, 10), (96, 50)])
    func `a random walk fits its box, even across the antimeridian or at a pole`(columns: Int, rows: Int) {
        var generator = SeededGenerator(seed: UInt64(columns))
        for origin in [(0.0, 0.0), (37.3, -122.0), (0.0, 179.9999), (89.9999, 10.0), (-90.0, 0.0)] {
            var place = origin
            let points = (0..<100).map { _ in
                place.0 = min(90, max(-90, place.0 + Double.random(in: -0.001...0.001, using: &generator)))
                place.1 = (place.1 + Double.random(in: -0.001...0.001, using: &generator)).remainder(dividingBy: 360)
                return place
            }
            let lines = TrackDrawing(track(points)).render(columns: columns, rows: rows)
            #expect(lines.count == rows)
            #expect(lines.dropLast().allSatisfy { $0.count == columns })
            #expect(lines.dropLast().joined().contains { $0 != " " })
            #expect(lines.last?.hasSuffix(" m") == true)
        }
    }

    @Test func `one point and a hundred points at one place are a single dot`() {
        for count in [1, 100] {
            let lines = TrackDrawing(track(Array(repeating: (10, 20), count: count))).render(columns: 10, rows: 5)
            #expect(lines.dropLast().joined().count { $0 != " " } == 1)
        }
    }

    @Test func `nothing is drawn without points or room`() {
        #expect(TrackDrawing([]).render(columns: 80, rows: 24).isEmpty)
        #expect(TrackDrawing(track([(0, 0)])).render(columns: 3, rows: 24).isEmpty)
        #expect(TrackDrawing(track([(0, 0)])).render(columns: 80, rows: 1).isEmpty)
        #expect(TrackDrawing(track([(0, 0)])).render(columns: -3, rows: -1).isEmpty)
    }
}
