import FoundationEssentials
import SystemSupport

/// How a command writes times: for people at a terminal, or for programs that read a pipe.
enum TimeStyle {
    /// ISO 8601 in UTC, such as `2026-11-21T06:55:49.786Z`.
    case utc
    /// The local time and its age, such as `07:55:49 (2 min ago)`; with the date if it is not on the day of `now`.
    case local(now: Date)

    /// The style of stdout.
    static var output: Self { StandardOutput.isTerminal ? .local(now: Date()) : .utc }

    func text(_ date: Date) -> String { clock(date) + age(date) }

    /// The time without its age.
    func clock(_ date: Date) -> String {
        switch self {
        case .utc: ISO8601.string(date)
        case .local(let now):
            date.localText.prefix(10) == now.localText.prefix(10)
                ? String(date.localSeconds.suffix(8)) : date.localSeconds
        }
    }

    /// The time to the minute, without its age. On the same local day as `other` without the date.
    func minute(_ date: Date, after other: Date? = nil) -> String {
        switch self {
        case .utc: return ISO8601.string(date)
        case .local:
            let text = date.localSeconds.prefix(16)
            return String(text.prefix(10) == other?.localSeconds.prefix(10) ? text.suffix(5) : text)
        }
    }

    /// The age in parentheses, after a space; empty in a pipe.
    func age(_ date: Date) -> String {
        switch self {
        case .utc: ""
        case .local(let now): " (\(Self.age(of: date, at: now)))"
        }
    }

    /// Such as `2 min ago`, `now` or `in 5 h`.
    static func age(of date: Date, at now: Date) -> String {
        let age = now.timeIntervalSince(date)
        if abs(age) < 1 { return "now" }
        return age > 0 ? "\(span(age)) ago" : "in \(span(-age))"
    }

    /// The seconds as a whole number of a suitable unit, rounded down, such as `2 min`, `47 h` or `2 y`.
    static func span(_ seconds: Double) -> String {
        let seconds = Int(exactly: max(0, seconds).rounded(.down)) ?? 0
        let units = [
            (60, 1, "s"), (3600, 60, "min"), (2 * 86_400, 3600, "h"), (60 * 86_400, 86_400, "d"),
            (2 * 365 * 86_400, 30 * 86_400, "mo"),
        ]
        guard let (_, size, unit) = units.first(where: { seconds < $0.0 }) else {
            return "\(seconds / (365 * 86_400)) y"
        }
        return "\(seconds / size) \(unit)"
    }
}

extension Date {
    /// The time in the style of stdout.
    var shown: String { TimeStyle.output.text(self) }
}
