import Glibc

/// Standard error. Errors are ignored, because there is nowhere to report them. Any thread.
package enum StandardError {
    /// Whether it is a terminal.
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes `text`, without a newline.
    package static func write(_ text: String) {
        var text = text
        text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Writes `text` and a newline, with U+FFFD in place of each control character.
    package static func writeLine(_ text: String) { write(text.withoutControlCharacters + "\n") }
}
