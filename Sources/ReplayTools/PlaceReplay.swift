import BackgrounderAPI
import FoundationEssentials
import Glibc
package import LocationUpdates
package import Places
import SystemSupport

/// Runs a recording through the filter and the decisions about places, without a service.
package struct PlaceReplay: Sendable {
    private let replay: Replay
    private let course: PlaceCourse

    /// Creates a replay of `input`, which messages call `name`, with the places of the files at `places`, where `rules` act.
    ///
    /// - Throws: ``PlaceFileFault`` for a faulty file.
    package init(
        of input: ReplayInput,
        named name: String,
        places: [String],
        rules: [PlaceRule],
        clock: any Clock<Duration>
    ) throws(PlaceFileFault) {
        replay = Replay(of: input, named: name, clock: clock)
        course = try PlaceCourse(paths: places, rules: rules)
    }

    /// Prints the events, or with `isExplained` the figures of each fix at the places around it.
    ///
    /// - Throws: as ``Replay/print(_:as:settings:record:span:)``.
    package func print(isExplained: Bool, asJSON: Bool, settings: LocationSettings) async throws {
        if isExplained {
            try await replay.run(PlaceFigurePrinter(course, asJSON: asJSON), settings)
        } else {
            try await replay.run(PlaceEventPrinter(course, asJSON: asJSON), settings)
        }
    }

    /// Compares the events with those in the file at `path`, as ``print(isExplained:asJSON:settings:)`` writes them, and prints the
    /// differences.
    ///
    /// - Throws: ``ReplayFailure`` if there are any, or if the file cannot be read; else as print.
    package func compare(with path: String, settings: LocationSettings) async throws {
        try await replay.run(PlaceExpectation(course, expected: try ExpectedEvent.read(path), path: path), settings)
    }
}

/// An event as a replay prints it: places of files have no ids.
struct ReplayedEvent: Encodable {
    var place: String
    var event: PlaceEventKind
    var timestamp: Date
    var latitude: Double
    var longitude: Double
    var accuracy: Double?
    var distance: Double
    var sigma: Double
    var probability: Double
    var eta: Double?
    var estimated: Bool?
    var initial: Bool?
    var actions: [PlaceAction] = []

    init(_ decision: PlaceDecision, place: String) {
        self.place = place
        event = decision.event
        timestamp = decision.timestamp
        (latitude, longitude) = (decision.fix.coordinate.latitude, decision.fix.coordinate.longitude)
        accuracy = decision.fix.accuracy
        distance = decision.distance
        sigma = decision.sigma
        probability = decision.probability
        eta = decision.eta
        estimated = decision.estimated ? true : nil
        initial = decision.initial ? true : nil
    }
}

extension [PlaceAction] {
    /// Such as `; next-stop say fired: Next stop: Harbour`, or nothing.
    var inWords: String {
        map { "; \($0.rule) \($0.kind.rawValue) \($0.outcome.rawValue)" + ($0.detail.map { ": \($0)" } ?? "") }.joined()
    }
}

/// An event that a replay must have. Without a time, each time will do.
struct ExpectedEvent: Decodable {
    var place: String
    var event: PlaceEventKind
    var timestamp: Date?
    /// Without them, each will do.
    var actions: [PlaceAction]?

    /// The largest file; a replay of days has some thousand events.
    private static let largest = 16 << 20

    static func read(_ path: String) throws(ReplayFailure) -> [ExpectedEvent] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw ReplayFailure("\(path): \(systemMessage(errno)); name a file that `--format json` wrote")
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= largest else {
            throw ReplayFailure("\(path): not a file of at most 16 MiB; name one that `--format json` wrote")
        }
        do {
            return try JSON.decode([ExpectedEvent].self, from: Data(contentsOf: URL(filePath: path)))
        } catch {
            throw ReplayFailure("\(path): not a JSON list of events; write it with `--format json`")
        }
    }

    func matches(_ event: ReplayedEvent) -> Bool {
        place == event.place && self.event == event.event && timestamp.map { $0 == event.timestamp } ?? true
            && actions.map { $0 == event.actions } ?? true
    }

    var inWords: String {
        "\(event.rawValue) \(place)" + (timestamp.map { " at \(ISO8601.string($0))" } ?? "")
            + (actions.map(\.inWords) ?? "")
    }
}
