package import BackgrounderAPI

/// A valid shape, prepared for distances.
///
/// An edge is the shortest line between two positions. Any thread may use a shape.
///
///     let shape = try Shape(place.shape)
///     let distance = shape.signedDistance(from: position)
package struct Shape: Hashable, Sendable {
    private enum Form: Hashable, Sendable {
        case circle(radius: Double)
        case area(Outline)
        case line(Outline, halfWidth: Double)
    }

    private let form: Form
    /// The centre of a circle, or the mean of the positions.
    let center: Position
    /// The whole shape is within this distance of the centre, in metres.
    private let extent: Double
    /// How large the shape is, in metres: the radius of a circle, that of a circle of the same area for a polygon, and half the
    /// width of a line.
    package let radius: Double
    /// A box that contains the shape.
    package let bounds: GeographicBounds

    /// Farther away, a circle around the shape replaces its boundary; in metres.
    package static let horizon = 1_000_000.0

    /// Checks and prepares a shape.
    ///
    /// Time and memory grow with the number of positions; a polygon takes at most about a second.
    ///
    /// - Throws: ``ShapeError`` for the first fault.
    package init(_ shape: PlaceShape) throws(ShapeError) {
        switch shape {
        case .circle(let coordinate, let radius):
            guard radius > 0, radius <= ShapeLimits.radius else { throw .radius(radius) }
            guard let position = Position(coordinate) else {
                throw .coordinate(coordinate, position: nil, ring: nil)
            }
            form = .circle(radius: radius)
            center = position
            extent = radius
            self.radius = radius
            bounds = GeographicBounds(around: coordinate, within: radius)
        case .polygon(let rings):
            let outline = try Self.outline(rings: rings)
            form = .area(outline)
            center = outline.plane.origin
            extent = outline.extent
            radius = (outline.area / .pi).squareRoot()
            bounds = GeographicBounds(of: outline, isArea: true)
        case .line(let points, let width):
            guard width > 0, width <= ShapeLimits.width else { throw .width(width) }
            guard points.count <= ShapeLimits.positions else { throw .tooManyPositions(points.count) }
            let positions = try Self.positions(points, ring: nil)
            guard positions.count > 1 else { throw .shortLine(positions: positions.count) }
            let outline = try Outline([positions], isClosed: false)
            form = .line(outline, halfWidth: width / 2)
            center = outline.plane.origin
            extent = outline.extent + width / 2
            radius = width / 2
            var bounds = GeographicBounds(of: outline, isArea: false)
            bounds.grow(by: width / 2)
            self.bounds = bounds
        }
    }

    /// Returns why a shape is not valid, in one line; nil if it is.
    package static func refusal(of shape: PlaceShape) -> String? {
        do throws(ShapeError) {
            _ = try Shape(shape)
            return nil
        } catch {
            return error.description
        }
    }

    /// Checks areas as GeoJSON has them: in each polygon the first ring surrounds it, and the others are its holes.
    ///
    /// The rings of a ``PlaceShape`` do not say which of them are holes, so this also finds holes outside their polygon.
    ///
    /// - Throws: ``ShapeError`` for the first fault; its rings count within their polygon if a hole is misplaced, and over all
    ///   polygons otherwise.
    package static func check(polygons: [[[Coordinate]]]) throws(ShapeError) {
        let outline = try outline(rings: polygons.flatMap { $0 })
        var first = 0
        for (number, polygon) in polygons.enumerated() where !polygon.isEmpty {
            defer { first += polygon.count }
            let shell = outline.blocks.filter { $0.part == first }
            if outline.isHole(part: first) { throw .nestedPolygon(polygon: number + 1) }
            for ring in polygon.indices.dropFirst() {
                guard outline.isInside(part: first + ring, of: shell), outline.isHole(part: first + ring) else {
                    throw .misplacedHole(ring: ring + 1, polygon: number + 1)
                }
            }
        }
    }

    private static func outline(rings: [[Coordinate]]) throws(ShapeError) -> Outline {
        guard !rings.isEmpty else { throw .noRings }
        guard rings.count <= ShapeLimits.rings else { throw .tooManyRings(rings.count) }
        let count = rings.reduce(0) { $0 + $1.count }
        guard count <= ShapeLimits.positions else { throw .tooManyPositions(count) }
        var positions: [[Position]] = []
        for (number, ring) in rings.enumerated() {
            var part = try Self.positions(ring, ring: number + 1)
            if part.count > 1, part.first == part.last { part.removeLast() }
            guard part.count > 2 else { throw .shortRing(ring: number + 1, positions: part.count) }
            positions.append(part)
        }
        let outline = try Outline(positions, isClosed: true)
        for (number, part) in outline.parts.enumerated() where outline.isFlat(part) { throw .noArea(ring: number + 1) }
        try outline.checkCrossings()
        return outline
    }

    /// Returns the positions without repetitions of the previous one.
    private static func positions(_ coordinates: [Coordinate], ring: Int?) throws(ShapeError) -> [Position] {
        var positions: [Position] = []
        for (index, coordinate) in coordinates.enumerated() {
            guard let position = Position(coordinate) else {
                throw .coordinate(coordinate, position: index + 1, ring: ring)
            }
            if position != positions.last { positions.append(position) }
        }
        return positions
    }

    /// Returns the distance from `position` to the boundary in metres: positive inside, negative outside.
    ///
    /// The error is below 1 mm and 0.001 % of the distance while edges are shorter than 20 km, and below 0.2 m and 0.01 % for edges
    /// of 150 km: they are arcs of ellipses around the centre of the Earth, not exactly the shortest lines. More than ``horizon``
    /// away from the shape, the result is the distance to a circle around it.
    package func signedDistance(from position: TangentPosition) -> Double {
        let fromCenter = position.origin.distance(to: center)
        switch form {
        case .circle(let radius): return radius - fromCenter
        case .area(let outline):
            guard fromCenter <= extent + Self.horizon else { return extent - fromCenter }
            let distance = outline.distance(from: position.plane)
            return fromCenter <= extent * 1.001 + 1 && outline.contains(position.origin) ? distance : -distance
        case .line(let outline, let halfWidth):
            guard fromCenter <= extent + Self.horizon else { return extent - fromCenter }
            return halfWidth - outline.distance(from: position.plane)
        }
    }

    /// Returns a lower bound of the distance from `position` to the shape in metres; 0 or less if it may be inside. It takes
    /// the same short time for each shape.
    package func distanceBound(from position: Position) -> Double {
        position.distance(to: center) * 0.94 - extent
    }
}

/// A position with the plane that touches the Earth there.
///
/// Create one for each fix, and use it for all shapes.
package struct TangentPosition: Hashable, Sendable {
    let plane: TangentPlane

    /// The position itself.
    package var origin: Position { plane.origin }

    /// Creates the plane at `origin`.
    package init(_ origin: Position) { plane = TangentPlane(at: origin) }
}

extension Outline {
    /// Returns whether all points of a ring lie on one line.
    fileprivate func isFlat(_ part: Range<Int>) -> Bool {
        let first = points[part.lowerBound]
        var (area, length) = (0.0, 0.0)
        for index in part.dropLast() {
            let (a, b) = (points[index], points[index + 1])
            area += abs((a.x - first.x) * (b.y - first.y) - (b.x - first.x) * (a.y - first.y))
            length = max(length, abs(b.x - first.x), abs(b.y - first.y))
        }
        // A hundredth of a square metre, or narrower than a nanometre.
        return area < 0.01 || area < 1e-9 * length
    }
}
