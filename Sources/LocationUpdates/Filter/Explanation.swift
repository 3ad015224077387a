package import BackgrounderAPI

/// The figures on which the filter based its decision about one fix.
///
/// All figures are in metres. A figure is `nil` if it was unknown, or if an earlier rule decided.
package struct Explanation: Hashable, Sendable {
    /// The accuracy estimate, on Core Location's scale.
    package var estimate: Double?
    package var source: AccuracySource?
    /// The gate's limit; `nil` if every accuracy passes.
    package var limit: Double?
    /// The distance from the last delivered point; `nil` if there is none to compare with.
    package var distance: Double?
    /// The distance that was required: the distance filter, or the movement that position errors explain.
    package var bound: Double?
    /// Why the accepted point opens a segment; `nil` if it continues one.
    package var segment: SegmentReason?

    /// Creates an explanation in which everything is unknown.
    package init() {}
}

/// Why an accepted point opens a segment, in the order in which the reasons are checked.
package enum SegmentReason: String, Codable, CaseIterable, Sendable {
    /// No point precedes it.
    case first
    /// A new file, track or segment begins, or the source changed.
    case newTrack
    /// The third fix in a row that contradicts the track while the three agree with each other.
    case relocation
    case device
    case gap
    case reconnect
    /// A command started updates.
    case started
}
