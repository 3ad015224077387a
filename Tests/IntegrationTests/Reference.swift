import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// The result of the independent reference filter (Tests/Reference/location_filter.py) for a file.
struct Reference: Decodable {
    struct Rejected: Hashable, Codable {
        var index: Int
        var reason: String
    }

    var received: Int
    var accepted: [IndexedLocation]
    var rejected: [Rejected]

    /// - Parameter kind: `gpx`, or `gpsd` for gpsd's JSON lines.
    static func run(_ kind: String, _ file: String, _ options: [String] = []) async throws -> Reference {
        let script = Products.repository("Tests/Reference/location_filter.py")
        let run = try await ProgramRun.of(Programs.python, [script, kind, file] + options, within: 60)
        try #require(run.exitCode == 0, "\(run)")
        return try JSON.decode(Reference.self, from: run.output)
    }
}

/// An accepted point with its number in the file.
struct IndexedLocation: Decodable {
    private enum CodingKeys: CodingKey {
        case index
    }

    var index: Int
    var location: Location

    init(from decoder: any Decoder) throws {
        index = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .index)
        location = try Location(from: decoder)
    }
}

/// Compares accepted points with those of the reference, one by one.
func expectSame(_ points: [Location], _ expected: [Location], sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(points.count == expected.count, sourceLocation: sourceLocation)
    for (number, (point, reference)) in zip(points, expected).enumerated() {
        // The two add and round in different orders, so the accuracies may differ by a nanometre.
        let difference = abs((point.horizontalAccuracy ?? 0) - (reference.horizontalAccuracy ?? 0))
        let isSame =
            point.latitude == reference.latitude && point.longitude == reference.longitude
            && point.timestamp == reference.timestamp && point.mode == reference.mode
            && point.accuracySource == reference.accuracySource && point.segmentStart == reference.segmentStart
            && (point.horizontalAccuracy == nil) == (reference.horizontalAccuracy == nil) && difference < 1e-9
            && point.speed == reference.speed && point.course == reference.course
        guard !isSame else { continue }
        Issue.record("point \(number) is \(point), the reference says \(reference)", sourceLocation: sourceLocation)
        return
    }
}
