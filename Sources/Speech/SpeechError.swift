/// The reasons for which a text is not spoken.
package enum SpeechError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The deadline of the caller has passed.
    case late
    /// The program or the folder of the cache is not usable: the reason, and what to do.
    case unavailable(String)
    /// The program or the disk failed: the reason.
    case failed(String)
    /// The text cannot be spoken: the problem.
    case text(String)
    /// The caller was cancelled, or the service is stopping.
    case cancelled

    package var description: String {
        switch self {
        case .late: "the speech was not rendered in time"
        case .unavailable(let reason), .failed(let reason): "cannot render speech: \(reason)"
        case .text(let problem): "cannot speak the text: \(problem)"
        case .cancelled: "the speech was cancelled"
        }
    }
}
