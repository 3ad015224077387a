import Dispatch
import Glibc

/// A reader of key presses from stdin.
final class KeyInput {
    private let source: any DispatchSourceRead
    private let escapeTimer: any DispatchSourceTimer

    /// Tuned: the bytes of one key arrive together or shortly after each other, and a person does not notice the wait.
    private static let escapeTime = DispatchTimeInterval.milliseconds(100)

    /// Starts reading; returns `nil` if stdin is not a terminal.
    ///
    /// - Parameter handler: Gets each key, and `nil` when the terminal is closed. Runs on its own queue.
    init?(_ handler: @escaping @Sendable (Key?) -> Void) {
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        let queue = DispatchQueue(label: "backgrounder.keys")
        let timer = DispatchSource.makeTimerSource(queue: queue)
        source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue)
        escapeTimer = timer
        let parser = ParserBox()
        // A lone Esc is a key only if nothing follows it.
        timer.setEventHandler {
            if let key = parser.value.flush() { handler(key) }
        }
        timer.schedule(deadline: .distantFuture)
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            guard count > 0 else { return handler(nil) }
            for key in parser.value.feed(bytes.prefix(count)) { handler(key) }
            timer.schedule(deadline: parser.value.isWaiting ? .now() + Self.escapeTime : .distantFuture)
        }
        timer.activate()
        source.activate()
    }

    deinit {
        source.cancel()
        escapeTimer.cancel()
    }

    /// The parser, which only the handlers on the queue of keys use.
    private final class ParserBox: @unchecked Sendable {
        var value = KeyParser()
    }
}
