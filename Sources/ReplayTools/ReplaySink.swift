import BackgrounderAPI
import FoundationEssentials
import LocationUpdates
import SystemSupport

/// A receiver of the decisions of a replay, in order.
protocol ReplaySink {
    /// Whether ``receive(_:_:)`` needs the figures of each decision.
    var wantsExplanations: Bool { get }

    /// Processes a decision.
    mutating func receive(_ decision: Decision, _ fix: ReplayedFix) throws(OutputError)
    /// Called when nothing follows for a while, to flush output.
    mutating func pause() throws(OutputError)
    /// Called at the end.
    mutating func end() throws(OutputError)
    /// Why the replay is not as it should be, known at the end; nil if it is.
    var failure: String? { get }
}

extension ReplaySink {
    var failure: String? { nil }
}

/// The fix of a decision.
struct ReplayedFix {
    /// The 0-based number of the point in the file, or of gpsd's fix.
    var index: Int
    var time: Date?
    var explanation: Explanation?
    /// The location of a fix that passed the gate and the rules of time; unknown in a sink that wants explanations.
    var passed: Location?
}
