/// A message from a source to the manager. Messages arrive in the order in which they happened.
package enum SourceItem: Sendable {
    case report(Report)
    case connected
    /// The connection was lost or refused; the reason is for display.
    case disconnected(reason: String)
    /// The source disconnected for a rest.
    case left
    /// The rest is over, and the source reconnects.
    case returning
    /// The source is connected, and nothing arrived for too long.
    case silent
    /// gpsd has no receiver; the reason is for display.
    case noDevice(reason: String)
    case devicePresent
    /// A line was too long and was skipped; the number of such lines so far.
    case skippedLines(Int)
    /// Lines of a log were skipped.
    case oddLines(OddLines)
    /// The file ended, or is damaged from here on.
    case finished(TrackFault?)
}

/// The messages of one read.
struct SourceBatch: Sendable {
    /// The manager's number for the source.
    let run: Int
    let items: [SourceItem]
}
