package import BackgrounderAPI
import Glibc

/// Builds the line of a track for a map: simplified to half a pixel, or more coarsely if it would have too many vertices otherwise.
package struct TrackLineBuilder: Sendable {
    /// The largest zoom level. A pixel is 0.15 m wide at the equator.
    package static let mostZoom = 20.0
    /// Tuned: a browser draws so many in a few milliseconds, and they are 50 kB compressed.
    package static let mostVertices = 5000

    private static let tileSize = 256.0

    private let box: MapBox?
    private let digits: Int
    private var tolerance: Double
    private var simplifier: SegmentSimplifier
    private var segments: [[MapPoint]] = []
    private var current: [MapPoint] = []
    /// The number of vertices in `segments`.
    private var count = 0
    private var last: MapPoint?

    /// Creates a builder.
    ///
    /// - Parameters:
    ///   - zoom: the zoom level; at 0 the world is 256 pixels wide, and each level doubles it.
    ///   - box: leave out lines that cannot be seen in this box.
    package init(zoom: Double = mostZoom, box: MapBox? = nil) {
        self.box = box
        let pixels = Self.tileSize * exp2(min(max(zoom, 0), Self.mostZoom))
        tolerance = 0.5 / pixels
        simplifier = SegmentSimplifier(tolerance: tolerance)
        // A tenth of a pixel.
        digits = max(1, Int(log10(pixels * 10 / 360).rounded(.up)))
    }

    /// Adds a position in degrees.
    package mutating func add(latitude: Double, longitude: Double, startsSegment: Bool) {
        let point = MapPoint(latitude: latitude, longitude: longitude)
        if startsSegment {
            endSegment()
        } else if let last, abs(point.x - last.x) > 0.5 {
            cross(from: last, to: point)
        }
        last = point
        simplify(point)
    }

    /// Returns the line.
    package mutating func finish() -> TrackLine {
        endSegment()
        let scale = pow(10, Double(digits))
        func rounded(_ degrees: Double) -> Double { (degrees * scale).rounded() / scale }
        return TrackLine(segments: segments.map { $0.map { [rounded($0.latitude), rounded($0.longitude)] } })
    }

    /// Splits the line where it crosses the antimeridian.
    private mutating func cross(from a: MapPoint, to b: MapPoint) {
        let edge = a.x < 0.5 ? 0.0 : 1.0
        let (toEdge, fromEdge) = (abs(edge - a.x), abs(1 - edge - b.x))
        let share = toEdge + fromEdge > 0 ? toEdge / (toEdge + fromEdge) : 0
        let y = a.y + (b.y - a.y) * share
        simplify(MapPoint(x: edge, y: y))
        endSegment()
        simplify(MapPoint(x: 1 - edge, y: y))
    }

    private mutating func simplify(_ point: MapPoint) {
        if let kept = simplifier.add(point) { append(kept) }
    }

    private mutating func endSegment() {
        if let kept = simplifier.finish() { append(kept) }
        closeSegment()
        last = nil
    }

    private mutating func append(_ vertex: MapPoint) {
        if let before = current.last, let box, !box.mayContain(before, vertex) {
            closeSegment()
            // The next line may begin here.
            current = [vertex]
            return
        }
        current.append(vertex)
        if count + current.count > Self.mostVertices { coarsen() }
    }

    private mutating func closeSegment() {
        // A vertex alone is the end of a line that cannot be seen, or a point without a line.
        let isSeen = current.count > 1 || current.allSatisfy { box?.mayContain($0, $0) ?? true }
        if isSeen, !current.isEmpty {
            segments.append(current)
            count += current.count
        }
        current = []
    }

    /// Increases the tolerance and simplifies all vertices again. Segments that are smaller than the tolerance are left out.
    private mutating func coarsen() {
        let pending = simplifier.finish()
        repeat {
            tolerance *= 1.5
            segments = segments.compactMap { simplified($0) }
            current = simplified(current) ?? current.suffix(1)
            count = segments.reduce(0) { $0 + $1.count }
        } while count + current.count > Self.mostVertices * 3 / 4
        simplifier = SegmentSimplifier(tolerance: tolerance)
        for vertex in [current.last, pending] { _ = vertex.flatMap { simplifier.add($0) } }
    }

    private func simplified(_ segment: [MapPoint]) -> [MapPoint]? {
        let (xs, ys) = (segment.map(\.x), segment.map(\.y))
        let width = (xs.max() ?? 0) - (xs.min() ?? 0)
        let height = (ys.max() ?? 0) - (ys.min() ?? 0)
        guard max(width, height) > tolerance else { return nil }
        var simplifier = SegmentSimplifier(tolerance: tolerance)
        var vertices = segment.compactMap { simplifier.add($0) }
        if let last = simplifier.finish() { vertices.append(last) }
        return vertices
    }
}
