package import BackgrounderAPI

/// What the filter knew of one fix when it decided on it: its own numbers, noted while it decides.
///
/// Metres; `nil` is what was unknown, or not looked at because the fix was settled before.
package struct Explanation: Hashable, Sendable {
    /// The accuracy estimate, on Core Location's scale.
    package var estimate: Double?
    package var source: AccuracySource?
    /// The limit of the gate in force; `nil` where every accuracy passes.
    package var limit: Double?
    /// From the last delivered point; `nil` where there is none to compare with.
    package var distance: Double?
    /// What `distance` had to reach: the distance filter, or what the errors explain.
    package var bound: Double?
    /// Why nothing connects an accepted point with the one before it.
    package var segment: SegmentReason?

    package init() {}
}

/// What makes an accepted point open a segment, in the order in which it is looked for.
package enum SegmentReason: String, Codable, CaseIterable, Sendable {
    /// There is no point before it.
    case first
    /// A new file, track or segment, or another source.
    case newTrack
    /// The third of a row that contradicts the track but not itself.
    case relocation
    case device
    case gap
    case reconnect
    /// Updates were started by a command.
    case started
}
