import Dispatch
import Glibc
import SystemSupport

/// A line on the terminal that shows what the command is waiting for, and for how long. It appears after a second, and
/// only on a terminal.
enum WaitLine {
    /// Shows the line while `body` runs, and returns the result of `body`.
    static func during<Result>(_ text: String, _ body: () async throws -> Result) async rethrows -> Result {
        guard StandardError.isTerminal else { return try await body() }
        let queue = DispatchQueue(label: "backgrounder.wait")
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let (text, begun) = (text.withoutControlCharacters, ContinuousClock.now)
        timer.setEventHandler {
            let seconds = Int((ContinuousClock.now - begun).seconds.rounded())
            // Cut the line: the first part of a wrapped line could not be erased.
            StandardError.write(
                "\r\u{1B}[K" + "\(text) … \(seconds) s".cut(to: StandardOutput.terminalSize.columns - 1)
            )
        }
        timer.schedule(deadline: .now() + .seconds(1), repeating: .seconds(1), leeway: .milliseconds(50))
        timer.activate()
        defer {
            timer.cancel()
            // Erase on the timer's queue, so that no later tick draws the line again.
            queue.sync { StandardError.write("\r\u{1B}[K") }
        }
        return try await body()
    }
}
