package import BackgrounderAPI

/// A time or distance at which a rule wants to know about a place, besides `enter`, `leave` and `pass`.
package enum PlaceWatch: Codable, Hashable, Sendable {
    /// The machine has been inside for so many seconds.
    case dwell(Double)
    /// So many seconds remain before the boundary.
    case eta(Double)
    /// So many metres remain before the boundary.
    case within(Double)

    var isValid: Bool {
        switch self {
        case .dwell(let value), .eta(let value), .within(let value): value.isFinite && value >= 0
        }
    }
}

/// A place whose shape is prepared, and what rules want to know about it. Any thread may use it.
package final class MonitoredPlace: Sendable {
    package let id: Int64
    package let shape: Shape
    /// The course in degrees on which a machine approaches; `nil` if each counts.
    package let course: Double?
    /// In degrees.
    package let tolerance: Double
    package let watches: [PlaceWatch]

    /// Checks and prepares a place. Watches that are negative or not finite are ignored.
    ///
    /// - Throws: ``ShapeError`` if the shape, the course or the tolerance is not valid.
    package init(
        id: Int64,
        shape: PlaceShape,
        course: Double? = nil,
        tolerance: Double? = nil,
        watches: [PlaceWatch] = []
    ) throws(ShapeError) {
        if let course, !(0...360).contains(course) { throw .course(course) }
        if let tolerance, !(0...180).contains(tolerance) { throw .tolerance(tolerance) }
        self.id = id
        self.shape = try Shape(shape)
        self.course = course
        self.tolerance = tolerance ?? PlaceRules.courseTolerance
        self.watches = watches.filter(\.isValid)
    }

    /// Checks and prepares the place of a definition, as ``init(id:shape:course:tolerance:watches:)`` does.
    package convenience init(id: Int64, _ definition: PlaceDefinition, watches: [PlaceWatch] = []) throws(ShapeError) {
        try self.init(
            id: id,
            shape: definition.shape,
            course: definition.course,
            tolerance: definition.tolerance,
            watches: watches
        )
    }

    /// Returns whether a machine on `course` approaches as it should; an unknown course counts.
    func accepts(course: Double?) -> Bool {
        guard let wanted = self.course, let course else { return true }
        return abs((course - wanted).remainder(dividingBy: 360)) <= tolerance
    }
}
