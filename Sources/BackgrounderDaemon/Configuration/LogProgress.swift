import SystemSupport

/// How often the log reports position and playback while no client is attached: `log.progress`.
enum LogProgress: Hashable, Sendable {
    /// At each accepted point and each `audio.observerInterval`.
    case every
    /// At most once per interval.
    case at(Duration)
    case off

    /// Parses `every`, `off` or a duration from 1 s to 1 d; returns `nil` for anything else.
    init?(_ text: String) {
        switch text {
        case "every": self = .every
        case "off": self = .off
        default:
            guard let interval = Durations.duration(text), (.seconds(1)...(.seconds(86_400))).contains(interval) else {
                return nil
            }
            self = .at(interval)
        }
    }
}
