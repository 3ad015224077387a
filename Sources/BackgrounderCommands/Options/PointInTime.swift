import ArgumentParser
import FoundationEssentials
import SystemSupport

/// A time on the command line: ISO 8601, `now`, `today`, `yesterday`, or a span before now such as `10m`.
struct PointInTime {
    let date: Date

    /// Rejects a range that ends before it begins, which would otherwise look like a range without points.
    static func check(since: PointInTime?, until: PointInTime?) throws {
        guard let since = since?.date, let until = until?.date, since > until else { return }
        throw ValidationError(
            "--since \(ISO8601.string(since)) is later than --until \(ISO8601.string(until)); swap them"
        )
    }

    /// Parses the value of an option.
    @Sendable static func parse(_ text: String) throws -> PointInTime {
        guard let time = PointInTime(argument: text) else {
            throw ValidationError(
                "\(text.debugDescription) is not a valid time; use ISO 8601, now, today, yesterday, or a span before now such as 10m, 2h, 7d"
            )
        }
        return time
    }

    init?(argument: String) {
        switch argument.lowercased() {
        case "now": date = Date()
        case "today": date = LocalClock.midnight(of: Date())
        case "yesterday": date = LocalClock.midnight(of: Date(), daysBefore: 1)
        default:
            if let span = Durations.duration(argument), Double(argument) == nil {
                date = Date(timeIntervalSinceNow: -span.seconds)
            } else if let time = ISO8601.date(argument) {
                date = time
            } else {
                return nil
            }
        }
    }
}
