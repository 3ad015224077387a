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
}

/// The fix of a decision.
struct ReplayedFix {
    /// The 0-based number of the point in the file, or of gpsd's fix.
    var index: Int
    var time: Date?
    var explanation: Explanation?
}
