import FoundationEssentials
import SystemSupport

/// How the rows of a replay are written: whole and in UTC for a pipe, or for people at a terminal.
enum RowStyle {
    case pipe
    /// With local times, and cut to a number of columns.
    case terminal(columns: Int)

    /// The style of stdout.
    static var output: Self { StandardOutput.widthLimit.map { .terminal(columns: $0) } ?? .pipe }

    func time(_ date: Date) -> String {
        switch self {
        case .pipe: ISO8601.string(date)
        case .terminal: date.localSeconds
        }
    }

    /// The columns that ``time(_:)`` takes.
    var timeWidth: Int {
        switch self {
        case .pipe: 24
        case .terminal: 19
        }
    }

    func line(_ text: String) -> String {
        switch self {
        case .pipe: text + "\n"
        case .terminal(let columns): text.cut(to: columns) + "\n"
        }
    }
}
