import Glibc

extension StandardOutput {
    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Columns and rows of the terminal. If it does not know them, the variables `COLUMNS` and `LINES`; else 80 × 24.
    package static var terminalSize: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return (variable("COLUMNS") ?? 80, variable("LINES") ?? 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// The most columns that a line may have; `nil` if stdout is not a terminal.
    package static var widthLimit: Int? { isTerminal ? terminalSize.columns : nil }

    private static func variable(_ name: String) -> Int? {
        getenv(name).flatMap { Int(String(cString: $0)) }.flatMap { $0 > 0 ? $0 : nil }
    }
}
