import BackgrounderAPI

/// How often the log tells where the machine is and what plays while nobody is attached: `log.progress`.
enum LogProgress: Hashable, Sendable {
    /// Each accepted point, and each `audio.observerInterval`.
    case every
    /// At most once in this time.
    case at(Duration)
    case off

    /// `every`, `off` or a duration from 1 s to 1 d; `nil` for anything else.
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
