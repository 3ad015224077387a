import Dispatch
import Glibc

/// The terminal in the hands of a full-screen view: alternate screen, no cursor, keys as they are pressed.
///
/// It is given back in `deinit`, and while the process is suspended. One task uses it.
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

    /// Takes the terminal; again after a stop, since a shell gives back other modes than it found. In the background it stops
    /// the process until the terminal is free.
    func enter() {
        if hasKeys {
            var raw = original
            raw.c_lflag &= ~UInt32(ICANON | ECHO)
            // The threads of a pool block this signal, and the kernel would then let a background process have its way.
            Self.withUnblocked(SIGTTOU) { tcsetattr(STDIN_FILENO, TCSANOW, &raw) }
        }
        try? Output.write("\u{1B}[?1049h\u{1B}[?25l")
    }

    private func leave() {
        if hasKeys { tcsetattr(STDIN_FILENO, TCSANOW, &original) }
        try? Output.write("\u{1B}[?25h\u{1B}[?1049l")
    }

    /// What Ctrl-Z asks for: gives the terminal back, stops the process, and takes the terminal when the shell lets it go on.
    ///
    /// The kernel's own action stops it, which does nothing where no shell is there to continue it.
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

    /// Shows `lines` in one write: each line overwrites the one before it, so that nothing flickers.
    func draw(_ lines: [String]) throws {
        let body = lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
        // Mode 2026 asks terminals that know it to show the whole at once.
        try Output.write("\u{1B}[?2026h\u{1B}[H\(body)\u{1B}[J\u{1B}[?2026l")
    }
}

/// Keys from stdin; nothing where stdin is no terminal.
final class KeyInput {
    private let source: any DispatchSourceRead

    /// - Parameter handler: gets each key, and `nil` at the end of the terminal, on a queue of its own.
    init?(_ handler: @escaping @Sendable (Character?) -> Void) {
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        source = DispatchSource.makeReadSource(
            fileDescriptor: STDIN_FILENO,
            queue: DispatchQueue(label: "backgrounder.keys")
        )
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            guard count > 0 else { return handler(nil) }
            // An escape sequence is one of the keys that mean nothing here.
            guard bytes[0] != 0x1B else { return }
            for byte in bytes.prefix(count) { handler(Character(Unicode.Scalar(byte))) }
        }
        source.activate()
    }

    deinit {
        source.cancel()
    }
}

/// Calls back for signals, in place of what they do.
final class SignalInput {
    private let sources: [any DispatchSourceSignal]

    /// - Parameter handler: runs on a queue of its own.
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
