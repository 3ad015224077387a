import BackgrounderAPI
import LocationUpdates

/// Compares a run with the expected decisions, fix by fix.
struct ExpectationCheck: ReplaySink {
    private enum Outcome: Equatable {
        case accepted(opensSegment: Bool?)
        case rejected(RejectionReason)

        var inWords: String {
            switch self {
            case .accepted(opensSegment: true): "accepted, new segment"
            case .accepted: "accepted"
            case .rejected(let reason): reason.rawValue
            }
        }
    }

    private let expected: ExpectedRuns.Run
    private let outcomes: [Outcome]
    private var received = 0
    /// The first differences, one line each.
    private(set) var differences: [String] = []
    private(set) var differenceCount = 0
    private static let shown = 20

    // The figures of differences are worth some time in a test.
    var wantsExplanations: Bool { true }

    init(_ run: ExpectedRuns.Run) {
        expected = run
        var outcomes = [Outcome](repeating: .accepted(opensSegment: nil), count: run.received)
        if let starts = run.segmentStarts {
            for index in run.accepted { outcomes[index] = .accepted(opensSegment: false) }
            for index in starts {
                outcomes[index] = .accepted(opensSegment: true)
            }
        }
        for rejected in run.rejected { outcomes[rejected.index] = .rejected(rejected.reason) }
        self.outcomes = outcomes
    }

    mutating func receive(_ decision: Decision, _ fix: ReplayedFix) {
        received += 1
        let explained = ExplainedFix(decision, fix)
        guard fix.index < outcomes.count else {
            return differ("index \(fix.index): expected no fix, got \(explained.decisionInWords)")
        }
        let wanted = outcomes[fix.index]
        let got: Outcome
        switch decision {
        case .rejected(let rejection): got = .rejected(rejection.reason)
        case .accepted(let location):
            if case .accepted(opensSegment: nil) = wanted { return }
            got = .accepted(opensSegment: location.segmentStart == true)
        }
        if got != wanted {
            differ("index \(fix.index): expected \(wanted.inWords), got \(explained.decisionInWords)")
        }
    }

    mutating func pause() {}

    mutating func end() {
        guard received < outcomes.count else { return }
        differ("expected \(outcomes.count) fixes, got \(received)")
    }

    /// Returns one line if nothing differs, otherwise a heading and the first differences.
    func report(number: Int, of count: Int) -> String {
        let heading = "run \(number) of \(count), \(expected.settings.inWords)"
        guard differenceCount > 0 else {
            return "\(heading): identical, \(received) received, \(expected.accepted.count) accepted\n"
        }
        let more = differenceCount - differences.count
        let lines = differences + (more > 0 ? ["and \(more) more"] : [])
        return "\(heading): \(differenceCount) of \(max(received, outcomes.count)) differ\n"
            + lines.map { "  \($0)\n" }.joined()
    }

    private mutating func differ(_ line: String) {
        differenceCount += 1
        if differences.count < Self.shown { differences.append(line) }
    }
}
