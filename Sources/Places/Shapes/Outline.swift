import BackgrounderAPI

/// Rings or a line: edges that are straight in the plane at their centre.
///
/// The edges are grouped in blocks with a bounding box, so that a distance looks at a few of them.
struct Outline: Hashable, Sendable {
    /// Consecutive edges of one part.
    struct Block: Hashable, Sendable {
        /// The indices of the first points of the edges.
        var edges: Range<Int>
        /// The ring, or 0 for a line.
        var part: Int
        var box: PlaneBox
    }

    let plane: TangentPlane
    /// Of all parts. A ring's first point is repeated at its end.
    let points: [PlanePoint]
    /// The indices of the points of each part.
    let parts: [Range<Int>]
    let blocks: [Block]
    /// The greatest distance from the centre, in metres.
    let extent: Double

    private static let edgesPerBlock = 32

    /// Creates an outline of parts that are not empty.
    ///
    /// - Throws: ``ShapeError`` if the parts reach too far from their centre.
    init(_ positions: [[Position]], isClosed: Bool) throws(ShapeError) {
        let sum = positions.joined().reduce(Vector(x: 0, y: 0, z: 0)) { $0 + $1.up }
        let count = Double(positions.reduce(0) { $0 + $1.count })
        guard sum.length > 0.5 * count else { throw .reachesTooFar }
        let plane = TangentPlane(at: Position(up: (1 / sum.length) * sum))
        var extent = 0.0
        var points: [PlanePoint] = []
        var parts: [Range<Int>] = []
        for part in positions {
            let start = points.count
            for position in part {
                extent = max(extent, plane.origin.distance(to: position))
                guard extent <= ShapeLimits.reach, let point = plane.project(position.point) else {
                    throw .reachesTooFar
                }
                points.append(point)
            }
            if isClosed { points.append(points[start]) }
            parts.append(start..<points.count)
        }
        self.plane = plane
        self.points = points
        self.parts = parts
        self.extent = extent
        blocks = Self.blocks(points, parts)
    }

    private static func blocks(_ points: [PlanePoint], _ parts: [Range<Int>]) -> [Block] {
        var blocks: [Block] = []
        for (number, part) in parts.enumerated() {
            for start in stride(from: part.lowerBound, to: part.upperBound - 1, by: edgesPerBlock) {
                let end = min(start + edgesPerBlock, part.upperBound - 1)
                blocks.append(Block(edges: start..<end, part: number, box: PlaneBox(points[start...end])))
            }
        }
        return blocks
    }

    /// Returns the distance from `position` to the nearest edge, in metres.
    func distance(from position: TangentPlane) -> Double {
        let projection = PlaneProjection(from: plane, to: position)
        let own = plane.project(position.origin.point)
        var best = (squared: Double.infinity, x: 0.0, y: 0.0)
        func examine(_ block: Block) {
            var previous = projection(points[block.edges.lowerBound])
            for index in block.edges {
                let next = projection(points[index + 1])
                defer { previous = next }
                guard let a = previous, let b = next else { continue }
                let (dx, dy) = (b.x - a.x, b.y - a.y)
                let squaredLength = dx * dx + dy * dy
                let share = squaredLength > 0 ? min(1, max(0, -(a.x * dx + a.y * dy) / squaredLength)) : 0
                let (x, y) = (a.x + share * dx, a.y + share * dy)
                let squared = x * x + y * y
                if squared < best.squared { best = (squared, x, y) }
            }
        }
        if blocks.count > 1, let own {
            // A plane stretches the surface by at most this factor between its centre and the farther of the two.
            let reach = max(extent, plane.origin.distance(to: position.origin)) / Ellipsoid.pole
            let shrink = max(0, 1 - reach * reach) * 0.98
            let bounds = blocks.map { $0.box.squaredDistance(to: own) * shrink * shrink }
            let first = bounds.indices.min { bounds[$0] < bounds[$1] } ?? 0
            examine(blocks[first])
            for index in blocks.indices where index != first && bounds[index] < best.squared { examine(blocks[index]) }
        } else {
            for block in blocks { examine(block) }
        }
        guard best.squared > 4_000_000 else { return best.squared.squareRoot() }
        guard best.squared < .infinity else { return .infinity }
        return position.origin.distance(
            to: Position(towards: position.vector(to: PlanePoint(x: best.x, y: best.y)))
        )
    }

    /// Returns whether `position` is inside an odd number of rings.
    func contains(_ position: Position) -> Bool {
        guard let point = plane.project(position.point) else { return false }
        return isInside(point, of: blocks)
    }

    /// Returns whether a ray from `point` crosses an odd number of edges of `blocks`.
    func isInside(_ point: PlanePoint, of blocks: some Sequence<Block>) -> Bool {
        var isInside = false
        for block in blocks where block.box.isEast(of: point) {
            for index in block.edges {
                let (a, b) = (points[index], points[index + 1])
                guard (a.y > point.y) != (b.y > point.y) else { continue }
                if point.x < a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x) { isInside.toggle() }
            }
        }
        return isInside
    }

    /// The surface within an odd number of rings, in square metres; within 1 % up to 1,000 km from the centre.
    ///
    /// Lambert's equal-area projection: a position's distance from the centre is the length of the chord.
    var area: Double {
        let flat = points.map { point in
            let chord = Position(towards: plane.vector(to: point)).point - plane.origin.point
            let (x, y) = (chord.dot(plane.east), chord.dot(plane.north))
            let horizontal = (x * x + y * y).squareRoot()
            let factor = horizontal > 0 ? chord.length / horizontal : 1
            return PlanePoint(x: factor * x, y: factor * y)
        }
        var total = 0.0
        for (number, part) in parts.enumerated() {
            var double = 0.0
            for index in part.dropLast() {
                double += flat[index].x * flat[index + 1].y - flat[index + 1].x * flat[index].y
            }
            total += abs(double) / 2 * (isHole(part: number) ? -1 : 1)
        }
        return max(0, total)
    }

    /// Returns whether the ring `part` lies inside an odd number of the others. The rings do not cross.
    func isHole(part: Int) -> Bool { isInside(part: part, of: blocks.lazy.filter { $0.part != part }) }

    /// Returns whether the ring `part` lies inside the rings of `blocks`, which it does not cross.
    ///
    /// A ring may touch another one at a point, so three edges vote.
    func isInside(part: Int, of blocks: some Sequence<Block>) -> Bool {
        let edges = parts[part].dropLast()
        let sample = [edges.lowerBound, edges.lowerBound + edges.count / 2, edges.upperBound - 1]
        let votes = sample.count(where: { index in
            let (a, b) = (points[index], points[index + 1])
            return isInside(PlanePoint(x: (a.x + b.x) / 2, y: (a.y + b.y) / 2), of: blocks)
        })
        return votes > 1
    }
}
