import BackgrounderAPI
import FoundationEssentials
import Glibc

/// The line of a track on a plane, in bounded memory: of a track with more points than ``capacity`` those are left out that lie so
/// near to their neighbours that no drawing shows the difference.
///
/// The plane is Mercator's, with metres at the equator as its unit, x to the east and y to the north; a track over the
/// antimeridian goes on to its other side.
struct TrackPath {
    /// A corner of the line, and the speed on the way to it in metres a second.
    struct Vertex {
        var x: Double
        var y: Double
        var speed: Double?
        var isStart: Bool
    }

    /// judgement: 20 vertices for every pixel of a drawing's width.
    static let capacity = 20_000

    private(set) var vertices: [Vertex] = []
    private(set) var first: Location?
    private(set) var last: Location?
    private(set) var count = 0
    /// Metres along the line, within its segments.
    private(set) var length = 0.0
    /// Metres a second, of the fastest point: by the speeds that were reported, as a trip's, and where none was by the places and times.
    var topSpeed: Double? { reportedTop ?? impliedTop }
    private(set) var bounds: (west: Double, east: Double, south: Double, north: Double)?

    private var reportedTop: Double?
    private var impliedTop: Double?
    private var lastVertex: Vertex?
    /// How far a vertex must lie from the one before it.
    private var tolerance = 0.0

    private static let radius = 6_378_137.0
    private static let eccentricitySquared = 0.00669437999014

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

    /// The cosine of the latitude at `y`: metres on the ground for each of the plane.
    static func groundScale(at y: Double) -> Double {
        1 / cosh(y / radius)
    }

    private mutating func thin() {
        guard let bounds else { return }
        // A quarter of a pixel where the drawing is 1,000 wide.
        let extent = max(bounds.east - bounds.west, bounds.north - bounds.south)
        while vertices.count > Self.capacity / 2 {
            tolerance = max(2 * tolerance, extent / 4000, 0.01)
            var kept: [Vertex] = []
            for vertex in vertices { Self.append(vertex, to: &kept, tolerance) }
            vertices = kept
            // So many segments that they fill the room alone: the drawing is dense with them.
            if tolerance > extent {
                vertices = vertices.suffix(Self.capacity / 2)
                return
            }
        }
    }

    /// The last vertex of a segment always stands for its end, however near it is: it is replaced as long as it may.
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
        // Mercator's poles are infinitely far away.
        asinh(tan(min(max(latitude, -85), 85) * .pi / 180)) * radius
    }

    /// Metres between two near points, by the radii of curvature of WGS84 at their mean latitude.
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
