import BackgrounderAPI
import FoundationEssentials
import Glibc

/// The line of a track on a plane, in bounded memory. If a track has more than ``capacity`` points, points too near to
/// their neighbours to make a visible difference are dropped.
///
/// The plane is the Mercator projection, with x to the east and y to the north, in metres at the equator. A track that
/// crosses the antimeridian continues on the other side without a jump.
struct TrackPath {
    /// A corner of the line, and the speed on the way to it in metres per second.
    struct Vertex {
        var x: Double
        var y: Double
        var speed: Double?
        var isStart: Bool
    }

    /// The largest number of vertices. Tuned: 20 for each pixel of a drawing's width.
    static let capacity = 20_000

    private(set) var vertices: [Vertex] = []
    private(set) var first: Location?
    private(set) var last: Location?
    private(set) var count = 0
    /// The length of the line in metres, without the gaps between its segments.
    private(set) var length = 0.0
    /// The speed of the fastest point, in metres per second: the reported one, as for a trip, or if none was reported,
    /// the speed between two points.
    var topSpeed: Double? { reportedTop ?? impliedTop }
    private(set) var bounds: (west: Double, east: Double, south: Double, north: Double)?

    private var reportedTop: Double?
    private var impliedTop: Double?
    private var lastVertex: Vertex?
    /// The least distance between two vertices.
    private var tolerance = 0.0

    private static let radius = 6_378_137.0
    private static let eccentricitySquared = 0.00669437999014

    /// Appends a point of the track.
    mutating func append(_ location: Location) {
        let isStart = last == nil || location.segmentStart == true
        var vertex = Vertex(x: 0, y: Self.northing(location.latitude), speed: location.speed, isStart: isStart)
        vertex.x = location.longitude * .pi / 180 * Self.radius
        if let last, let lastVertex {
            let east = (location.longitude - last.longitude).remainder(dividingBy: 360)
            vertex.x = lastVertex.x + east * .pi / 180 * Self.radius
            if !isStart {
                let step = Self.distance(last, location)
                length += step
                let seconds = location.timestamp.timeIntervalSince(last.timestamp)
                if vertex.speed == nil, seconds > 0 { vertex.speed = step / seconds }
            }
        }
        if let speed = location.speed {
            reportedTop = max(reportedTop ?? 0, speed)
        } else if let speed = vertex.speed {
            impliedTop = max(impliedTop ?? 0, speed)
        }
        let box = bounds ?? (vertex.x, vertex.x, vertex.y, vertex.y)
        bounds = (min(box.west, vertex.x), max(box.east, vertex.x), min(box.south, vertex.y), max(box.north, vertex.y))
        first = first ?? location
        last = location
        lastVertex = vertex
        count += 1
        Self.append(vertex, to: &vertices, tolerance)
        if vertices.count > Self.capacity { thin() }
    }

    /// Returns the metres on the ground for each metre of the plane at `y`: the cosine of the latitude.
    static func groundScale(at y: Double) -> Double {
        1 / cosh(y / radius)
    }

    private mutating func thin() {
        guard let bounds else { return }
        // A quarter of a pixel in a drawing of 1,000 pixels.
        let extent = max(bounds.east - bounds.west, bounds.north - bounds.south)
        while vertices.count > Self.capacity / 2 {
            tolerance = max(2 * tolerance, extent / 4000, 0.01)
            var kept: [Vertex] = []
            for vertex in vertices { Self.append(vertex, to: &kept, tolerance) }
            vertices = kept
            // There are too many segments to thin out any further. Keep the newest vertices.
            if tolerance > extent {
                vertices = vertices.suffix(Self.capacity / 2)
                return
            }
        }
    }

    /// Appends `vertex`, or replaces the last vertex if that one is within the tolerance of its predecessor. The end of
    /// a segment is therefore always kept.
    private static func append(_ vertex: Vertex, to vertices: inout [Vertex], _ tolerance: Double) {
        guard let end = vertices.last, !vertex.isStart, !end.isStart, vertices.count > 1 else {
            vertices.append(vertex)
            return
        }
        let before = vertices[vertices.count - 2]
        if hypot(end.x - before.x, end.y - before.y) < tolerance {
            vertices[vertices.count - 1] = vertex
        } else {
            vertices.append(vertex)
        }
    }

    private static func northing(_ latitude: Double) -> Double {
        // In the Mercator projection, the poles are infinitely far away.
        asinh(tan(min(max(latitude, -85), 85) * .pi / 180)) * radius
    }

    /// Returns the distance in metres between two nearby points, from the WGS84 radii of curvature at their mean
    /// latitude.
    private static func distance(_ from: Location, _ to: Location) -> Double {
        let latitude = (from.latitude + to.latitude) / 2 * .pi / 180
        let curvature = 1 - eccentricitySquared * sin(latitude) * sin(latitude)
        let primeVertical = radius / curvature.squareRoot()
        let meridional = primeVertical * (1 - eccentricitySquared) / curvature
        let east = (to.longitude - from.longitude).remainder(dividingBy: 360) * .pi / 180
        let north = (to.latitude - from.latitude) * .pi / 180
        return hypot(east * cos(latitude) * primeVertical, north * meridional)
    }
}
