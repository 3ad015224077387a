package import FoundationEssentials

/// What a user or a file says about a place.
///
/// `source` is the file or the name that it was imported under, absent for a place that was added by itself; `sourceId` is its id
/// there. Names are unique within a source unless `sourceId` differs.
package struct PlaceDefinition: Codable, Hashable, Sendable {
    package var name: String
    package var source: String?
    package var sourceId: String?
    package var tags: [String]
    package var properties: [String: String]
    package var shape: PlaceShape
    /// The course in degrees on which a machine approaches the place; absent if each counts.
    package var course: Double?
    /// How far a course may differ from `course`, in degrees; absent means 60.
    package var tolerance: Double?

    /// Creates a definition.
    package init(
        name: String,
        source: String? = nil,
        sourceId: String? = nil,
        tags: [String] = [],
        properties: [String: String] = [:],
        shape: PlaceShape,
        course: Double? = nil,
        tolerance: Double? = nil
    ) {
        self.name = name
        self.source = source
        self.sourceId = sourceId
        self.tags = tags
        self.properties = properties
        self.shape = shape
        self.course = course
        self.tolerance = tolerance
    }
}

/// What can happen at a place.
package enum PlaceEventKind: String, Codable, CaseIterable, Sendable {
    case enter, leave
    /// The machine has been inside for a given time.
    case dwell
    /// The machine crossed the place between two fixes.
    case pass
    /// A given time or distance remains before the boundary.
    case approach
}
