package import FoundationEssentials
import SystemSupport

/// A place as a user or a file describes it.
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

/// The kinds of events at a place.
package enum PlaceEventKind: String, Codable, CaseIterable, Sendable {
    case enter, leave
    /// The machine has been inside for a given time.
    case dwell
    /// The machine crossed the place between two fixes.
    case pass
    /// A given time or distance remains before the boundary.
    case approach
    /// The place is the next stop of the route that the machine follows.
    case next
}

/// A place as the service knows it. Its JSON has the members of its definition beside the others.
package struct Place: Hashable, Identifiable, Sendable {
    /// Never reused, even across restarts.
    package var id: Int
    package var definition: PlaceDefinition
    /// Whether the machine is inside.
    package var inside: Bool
    /// Since when `inside` has its value; absent until a fix decided it.
    package var since: Date?

    /// Creates a place.
    package init(id: Int, definition: PlaceDefinition, inside: Bool = false, since: Date? = nil) {
        self.id = id
        self.definition = definition
        self.inside = inside
        self.since = since
    }
}

extension Place: Codable {
    private enum CodingKeys: String, CodingKey { case id, inside, since }

    /// Decodes a place from members beside those of its definition.
    package init(from decoder: any Decoder) throws {
        definition = try PlaceDefinition(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        inside = try container.decode(Bool.self, forKey: .inside)
        since = try container.decodeIfPresent(Date.self, forKey: .since)
    }

    /// Encodes the members of the definition beside the others.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try definition.encode(to: encoder)
        try container.encode(inside, forKey: .inside)
        try container.encodeIfPresent(since, forKey: .since)
    }
}

/// The numbers of places that an import changed.
package struct PlaceImport: Codable, Hashable, Sendable {
    package var added = 0
    package var changed = 0
    package var removed = 0
    /// Places that are as they were.
    package var unchanged = 0

    /// Creates an import without changes.
    package init() {}
}

extension PlaceDefinition {
    private static let longestName = 256
    private static let mostTags = 32
    private static let longestTag = 64
    private static let mostProperties = 64
    private static let longestProperty = 16_384

    /// The fault of a text, in one line with the remedy; nil if there is none. The shape is checked elsewhere.
    package var problem: String? {
        guard (1...Self.longestName).contains(name.utf8.count), name == name.withoutControlCharacters else {
            return
                "\(name.debugDescription) is not a valid name; use 1 to \(Self.longestName) bytes without control characters"
        }
        let isTag = { (tag: String) in
            (1...Self.longestTag).contains(tag.utf8.count) && tag == tag.withoutControlCharacters
        }
        guard tags.count <= Self.mostTags, tags.allSatisfy(isTag) else {
            return "the tags are not valid; use at most \(Self.mostTags), of 1 to \(Self.longestTag) bytes each"
        }
        guard properties.count <= Self.mostProperties,
            properties.allSatisfy({ !$0.key.isEmpty && $0.key.utf8.count + $0.value.utf8.count <= Self.longestProperty }
            )
        else {
            return
                "the properties are not valid; use at most \(Self.mostProperties), of at most \(Self.longestProperty) bytes each"
        }
        return nil
    }
}
