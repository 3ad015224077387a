import BackgrounderAPI
import FoundationEssentials
import Glibc
import LocationUpdates
import SystemSupport

/// The document `….expected.json`: the expected decisions about a track with given settings.
package struct ExpectedRuns: Codable {
    struct Settings: Codable {
        var desiredAccuracy: DesiredAccuracy
        /// In metres; 0 for none.
        var distanceFilter: Double
        var maximumAccuracy: Double?
        var jitterGuard: Bool
    }

    struct Rejected: Codable, Hashable {
        var index: Int
        var reason: RejectionReason
    }

    struct Run: Codable {
        var settings: Settings
        var received: Int
        /// The indices of accepted fixes, in order.
        var accepted: [Int]
        /// The elements of `accepted` that open a segment; not compared if absent.
        var segmentStarts: [Int]?
        var rejected: [Rejected]
    }

    /// The name of the track file, for display.
    var track: String
    var runs: [Run]

    /// Reads and checks the file at `path`.
    ///
    /// - Throws: ``ExpectationError``.
    package init(path: String) throws(ExpectationError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            let isMissing = access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)
            let problem = isMissing ? "no such file" : "cannot read the file"
            throw ExpectationError(path: path, problem: problem, isMissing: isMissing)
        }
        do {
            self = try JSON.decode(Self.self, from: data)
        } catch let error as DecodingError {
            throw ExpectationError(path: path, problem: error.inWords)
        } catch {
            throw ExpectationError(path: path, problem: "not valid JSON")
        }
        guard !runs.isEmpty else { throw ExpectationError(path: path, problem: "runs is empty") }
        for (number, run) in runs.enumerated() {
            if let problem = run.problem {
                throw ExpectationError(path: path, problem: "runs[\(number)]\(problem)")
            }
        }
    }
}

extension ExpectedRuns.Run {
    /// A contradiction in the run; `nil` if there is none.
    fileprivate var problem: String? {
        let settings = settings
        let lengths = 0...Double(Metres.maximum)
        if !lengths.contains(settings.distanceFilter) { return ".settings.distanceFilter is out of range" }
        if let maximum = settings.maximumAccuracy, maximum == 0 || !lengths.contains(maximum) {
            return ".settings.maximumAccuracy is out of range"
        }
        var seen = Set<Int>()
        for index in accepted + rejected.map(\.index) {
            guard (0..<max(0, received)).contains(index) else { return " names index \(index) of \(received) received" }
            guard seen.insert(index).inserted else { return " names index \(index) twice" }
        }
        let acceptedOnes = Set(accepted)
        if let start = segmentStarts?.first(where: { !acceptedOnes.contains($0) }) {
            return " has the segment start \(start), which is not accepted"
        }
        guard seen.count == received else {
            return " names \(seen.count) indices, but received is \(received)"
        }
        return nil
    }
}

/// The error for a file of expectations that cannot be used.
package struct ExpectationError: Error, CustomStringConvertible {
    var path: String
    var problem: String
    /// Whether the file does not exist.
    package var isMissing = false

    package var description: String {
        "\(path): \(problem); `backgrounder track replay FILE --format expected` writes such a file"
    }
}

extension LocationSettings {
    init(_ settings: ExpectedRuns.Settings) {
        self.init(
            desiredAccuracy: settings.desiredAccuracy,
            distanceFilter: settings.distanceFilter,
            maximumAccuracy: settings.maximumAccuracy,
            jitterGuard: settings.jitterGuard
        )
    }
}

extension ExpectedRuns.Settings {
    init(_ settings: LocationSettings) {
        self.init(
            desiredAccuracy: settings.desiredAccuracy,
            distanceFilter: settings.distanceFilter,
            maximumAccuracy: settings.maximumAccuracy,
            jitterGuard: settings.jitterGuard
        )
    }

    /// The settings as options of the command.
    var inWords: String {
        var words = "--accuracy \(desiredAccuracy.rawValue) --filter \(distanceFilter.plain)"
        if let maximumAccuracy { words += " --maximum \(maximumAccuracy.plain)" }
        return words + (jitterGuard ? "" : " --no-jitter-guard")
    }
}

extension Double {
    /// The number without a zero fraction.
    fileprivate var plain: String { rounded() == self && magnitude < 1e15 ? String(Int64(self)) : String(self) }
}

extension DecodingError {
    /// The place in the document and the fault.
    fileprivate var inWords: String {
        func place(_ context: Context) -> String {
            let path = context.codingPath.reduce(into: "") { text, key in
                text += key.intValue.map { "[\($0)]" } ?? (text.isEmpty ? key.stringValue : ".\(key.stringValue)")
            }
            return path.isEmpty ? "the document" : path
        }
        return switch self {
        case .keyNotFound(let key, let context): "\(place(context)) has no \(key.stringValue)"
        case .typeMismatch(_, let context), .valueNotFound(_, let context): "\(place(context)) has the wrong type"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty ? "not valid JSON" : "\(place(context)): \(context.debugDescription)"
        @unknown default: "not a file of expectations"
        }
    }
}

/// Prints a run as a document that a later replay can be compared with.
struct ExpectationPrinter: ReplaySink {
    private let track: String
    private var run: ExpectedRuns.Run
    private var starts: [Int] = []

    var wantsExplanations: Bool { false }

    init(track: String, settings: LocationSettings) {
        self.track = track
        run = ExpectedRuns.Run(settings: .init(settings), received: 0, accepted: [], rejected: [])
    }

    mutating func receive(_ decision: Decision, _ fix: ReplayedFix) {
        run.received += 1
        switch decision {
        case .accepted(let location):
            run.accepted.append(fix.index)
            if location.segmentStart == true { starts.append(fix.index) }
        case .rejected(let rejection):
            run.rejected.append(ExpectedRuns.Rejected(index: fix.index, reason: rejection.reason))
        }
    }

    mutating func pause() {}

    mutating func end() throws(OutputError) {
        let settings = run.settings
        let rejected = run.rejected.map { "{\"index\":\($0.index),\"reason\":\"\($0.reason.rawValue)\"}" }
        try StandardOutput.write(
            """
            {"track":\((try? JSON.line(track)) ?? "\"\""),"runs":[
            {"settings":{"desiredAccuracy":"\(settings.desiredAccuracy.rawValue)",\
            "distanceFilter":\(settings.distanceFilter.plain),\
            "maximumAccuracy":\(settings.maximumAccuracy?.plain ?? "null"),"jitterGuard":\(settings.jitterGuard)},\
            "received":\(run.received),
            "accepted":[\(run.accepted.map(String.init).joined(separator: ","))],
            "segmentStarts":[\(starts.map(String.init).joined(separator: ","))],
            "rejected":[\(rejected.joined(separator: ","))]}
            ]}

            """
        )
    }
}
