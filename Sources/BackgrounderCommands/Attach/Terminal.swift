import Dispatch
import Glibc

/// The terminal in the mode of a full-screen view: alternate screen, no cursor, and unbuffered keys without echo.
///
/// The previous mode is restored in `deinit` and while the process is suspended. Not thread-safe: one task uses it.
final class Terminal {
    private var original = termios()
    private let hasKeys: Bool

    init() {
        hasKeys = tcgetattr(STDIN_FILENO, &original) == 0
        enter()
    }

    deinit {
        leave()
    }

    /// Sets the mode. It must be set again after a stop, because the shell changes it. If this process is in the
    /// background, the call stops it until it is in the foreground.
    func enter() {
        if hasKeys {
            var raw = original
            raw.c_lflag &= ~UInt32(ICANON | ECHO)
            // Pool threads block SIGTTOU, and the kernel then lets a background process change the terminal.
            Self.withUnblocked(SIGTTOU) { tcsetattr(STDIN_FILENO, TCSANOW, &raw) }
        }
        try? Output.write("\u{1B}[?1049h\u{1B}[?25l")
    }

    private func leave() {
        if hasKeys { tcsetattr(STDIN_FILENO, TCSANOW, &original) }
        try? Output.write("\u{1B}[?25h\u{1B}[?1049l")
    }

    /// Handles Ctrl-Z: restores the terminal, stops the process, and sets the mode again when the shell continues the
    /// process.
    ///
    /// Uses the default action of SIGTSTP, which the kernel ignores if no shell could continue the process.
    func suspend() {
        leave()
        var standard = sigaction()
        var present = sigaction()
        sigaction(SIGTSTP, &standard, &present)
        Self.withUnblocked(SIGTSTP) { raise(SIGTSTP) }
        sigaction(SIGTSTP, &present, nil)
        enter()
    }

    private static func withUnblocked(_ signal: Int32, _ body: () -> Int32) {
        var set = sigset_t()
        var before = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, signal)
        pthread_sigmask(SIG_UNBLOCK, &set, &before)
        _ = body()
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// Draws `lines` in one write. Each line overwrites the previous one in its row, to avoid flicker.
    func draw(_ lines: [String]) throws {
        let body = lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
        // Mode 2026 (synchronised output): terminals that support it show the whole screen in one step.
        try Output.write("\u{1B}[?2026h\u{1B}[H\(body)\u{1B}[J\u{1B}[?2026l")
    }
}

/// A handler of signals that replaces their default action.
final class SignalInput {
    private let sources: [any DispatchSourceSignal]

    /// - Parameter handler: Runs on its own queue.
    init(_ signals: [Int32], _ handler: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "backgrounder.signals")
        sources = signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler(handler: handler)
            source.activate()
            return source
        }
    }

    deinit {
        for source in sources { source.cancel() }
    }
}
