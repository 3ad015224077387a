import BackgrounderAPI
import Dispatch
import Glibc

/// One line on the terminal that says what is waited for, and for how long: nothing in a pipe, and nothing of what takes less
/// than a second.
enum WaitLine {
    static func during<Result>(_ text: String, _ body: () async throws -> Result) async rethrows -> Result {
        guard isatty(STDERR_FILENO) == 1 else { return try await body() }
        let queue = DispatchQueue(label: "backgrounder.wait")
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let (text, begun) = (text.withoutControlCharacters, ContinuousClock.now)
        timer.setEventHandler {
            let seconds = Int((ContinuousClock.now - begun).seconds.rounded())
            // One that does not fit would leave its first part behind.
            write("\r\u{1B}[K" + "\(text) … \(seconds) s".cut(to: Output.terminalSize.columns - 1))
        }
        timer.schedule(deadline: .now() + .seconds(1), repeating: .seconds(1), leeway: .milliseconds(50))
        timer.activate()
        defer {
            timer.cancel()
            // Behind the last of its lines.
            queue.sync { write("\r\u{1B}[K") }
        }
        return try await body()
    }

    private static func write(_ text: String) {
        _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }
}

extension String {
    /// Its beginning, where it has more than `columns` columns.
    fileprivate func cut(to columns: Int) -> String {
        terminalColumns <= columns ? self : fitted(to: max(0, columns))
    }
}
