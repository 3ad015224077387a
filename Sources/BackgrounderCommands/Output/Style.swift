import FoundationEssentials
import SystemSupport

/// Colours for stdout, only on a terminal and unless `NO_COLOR` is set.
enum Style {
    static func green(_ text: String) -> String { wrap(text, 32) }
    static func yellow(_ text: String) -> String { wrap(text, 33) }
    static func red(_ text: String) -> String { wrap(text, 31) }

    private static func wrap(_ text: String, _ code: Int) -> String {
        let isWanted = StandardOutput.isTerminal && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
        return isWanted ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
