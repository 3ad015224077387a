import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import LocationUpdates

/// The line of a track on a map.
@Suite struct TrackLineTests {
    /// Returns the line of `segments` of latitudes and longitudes.
    private func line(
        _ segments: [[(Double, Double)]],
        zoom: Double = TrackLineBuilder.mostZoom,
        box: MapBox? = nil
    ) -> [[[Double]]] {
        var builder = TrackLineBuilder(zoom: zoom, box: box)
        for segment in segments {
            for (index, position) in segment.enumerated() {
                builder.add(latitude: position.0, longitude: position.1, startsSegment: index == 0)
            }
        }
        return builder.finish().segments
    }

    /// Returns a random walk that turns, stops and returns.
    private func walk(_ count: Int, seed: UInt64, step: Double) -> [(Double, Double)] {
        var generator = SeededGenerator(seed: seed)
        var position = (48.0, 11.0)
        var heading = 0.0
        return (0..<count).map { _ in
            switch Int.random(in: 0..<20, using: &generator) {
            case 0: heading = .random(in: 0..<(2 * .pi), using: &generator)
            case 1: heading += .pi
            default: heading += .random(in: -0.3...0.3, using: &generator)
            }
            let distance = Bool.random(using: &generator) ? step * .random(in: 0...2, using: &generator) : 0
            position.0 += distance * cos(heading)
            position.1 += distance * sin(heading)
            return position
        }
    }

    private func distance(_ point: MapPoint, _ a: MapPoint, _ b: MapPoint) -> Double {
        let (edge, way) = (b - a, point - a)
        let length = edge.x * edge.x + edge.y * edge.y
        let share = length > 0 ? min(1, max(0, (way.x * edge.x + way.y * edge.y) / length)) : 0
        return MapPoint(x: way.x - share * edge.x, y: way.y - share * edge.y).length
    }

    @Test(arguments: [4.0, 9, 12, 15, 18], [1, 2, 3] as [UInt64])
    func `every point is within half a pixel of the line`(zoom: Double, seed: UInt64) throws {
        let points = walk(3000, seed: seed, step: 0.0003).map { MapPoint(latitude: $0.0, longitude: $0.1) }
        let pixel = 1 / (256 * exp2(zoom))
        var simplifier = SegmentSimplifier(tolerance: pixel / 2)
        var kept: [(index: Int, point: MapPoint)] = []
        var last = -1
        for (index, point) in points.enumerated() {
            // The first vertex is the first point, and each other one the point before the one that showed it.
            if let vertex = simplifier.add(point) { kept.append((max(0, index - 1), vertex)) }
            last = index
        }
        if let vertex = simplifier.finish() { kept.append((last, vertex)) }
        for (a, b) in zip(kept, kept.dropFirst()) {
            #expect(points[b.index] == b.point)
            for index in a.index...b.index {
                let away = distance(points[index], a.point, b.point) / pixel
                #expect(away <= 0.5 + 1e-6, "point \(index) is \(away) pixels away")
            }
        }
        #expect(kept.first?.point == points.first)
        if zoom < 13 { #expect(kept.count < points.count / 5) }
    }

    @Test func `a straight line has two vertices, and a turn has one`() {
        let straight = (0...1000).map { (48.0, 11 + Double($0) * 0.001) }
        #expect(line([straight]) == [[[48, 11], [48, 12]]])
        let turn = straight + (1...1000).map { (48 + Double($0) * 0.001, 12.0) }
        #expect(line([turn], zoom: 10).map(\.count) == [3])
        // A way there and back is not shortened.
        let there = straight + straight.reversed()
        #expect(line([there], zoom: 10) == [[[48, 11], [48, 12], [48, 11]]])
    }

    @Test func `segments stay apart, and a lone point is a segment`() {
        let lines = line([[(1, 1), (2, 2)], [(3, 3)], [(4, 4), (5, 4), (6, 6)]])
        #expect(lines == [[[1, 1], [2, 2]], [[3, 3]], [[4, 4], [5, 4], [6, 6]]])
        #expect(line([]) == [])
    }

    @Test func `a line across the antimeridian is split there`() {
        let lines = line([[(10, 179), (12, -179), (12, -178)]], zoom: 12)
        #expect(lines.count == 2)
        let (west, east) = (lines[0].last ?? [], lines[1].first ?? [])
        #expect(lines[0].first == [10, 179])
        #expect(west.last == 180)
        #expect(east.last == -180)
        #expect(west.first == east.first)
        #expect(abs(west[0] - 11) < 0.01)
        #expect(lines[1].last == [12, -178])
        #expect(line([[(0, 180), (0, -180), (1, -180)]]).count == 2)
    }

    @Test func `positions that the map cannot show are at its edge`() {
        #expect(line([[(90, 0), (-90, 0)]], zoom: 5) == [[[85.051, 0], [-85.051, 0]]])
    }

    @Test func `only lines in the box are there, with the points before and after it`() throws {
        let box = try #require(MapBox(minLongitude: 10, minLatitude: 40, maxLongitude: 20, maxLatitude: 50))
        let zigzag = (0...60).map { (Double($0), $0.isMultiple(of: 2) ? 15.0 : 16.0) }
        let seen = try #require(line([zigzag], box: box).first)
        #expect(seen.first == [39, 16])
        #expect(seen.last == [51, 16])
        #expect(seen.count == 13)
        #expect(line([[(45, 5), (45, 9)], [(45, 30), (46, 31)], [(0, 15)]], box: box) == [])
        // A line that crosses the box without a point in it.
        #expect(line([[(45, 5), (45, 25)]], box: box) == [[[45, 5], [45, 25]]])
        // The same part of the world with other numbers.
        let turned = try #require(MapBox(minLongitude: 370, minLatitude: 40, maxLongitude: 380, maxLatitude: 50))
        #expect(line([[(45, 12), (46, 13)]], box: turned).count == 1)
    }

    @Test(arguments: [
        (10.0, 0.0, 10.0, 1.0), (1, 1, 0, 2), (0, 91, 1, 92), (0, -91, 1, 0), (-541, 0, 0, 1), (.nan, 0, 1, 1),
        (0, 0, .infinity, 1), (0, .nan, 1, 1),
    ])
    func `a box without extent or beyond the world is refused`(west: Double, south: Double, east: Double, north: Double)
    {
        #expect(MapBox(minLongitude: west, minLatitude: south, maxLongitude: east, maxLatitude: north) == nil)
    }

    @Test func `a line has at most 5,000 vertices and keeps its shape`() {
        let points = walk(200_000, seed: 7, step: 0.01)
        let vertices = line([points])
        let count = vertices.reduce(0) { $0 + $1.count }
        #expect(count <= TrackLineBuilder.mostVertices)
        #expect(count > TrackLineBuilder.mostVertices / 4)
        // Many segments are thinned out, too.
        let segments = (0..<20_000).map { number in
            let start = (Double(number % 140) - 70, Double(number % 350) - 175)
            return [start, (start.0 + 0.0001, start.1), (start.0 + 0.0001 * Double(number % 50), start.1 + 0.0002)]
        }
        #expect(line(segments).reduce(0) { $0 + $1.count } <= TrackLineBuilder.mostVertices)
    }

    @Test func `coordinates are as precise as a tenth of a pixel`() {
        let position = [(48.123456789, 11.987654321), (48.223456789, 11.887654321)]
        #expect(line([position], zoom: 0).first?.first == [48.1, 12])
        #expect(line([position], zoom: 20).first?.first == [48.1234568, 11.9876543])
    }
}
