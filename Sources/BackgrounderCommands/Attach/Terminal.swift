import Dispatch
import Glibc

/// The terminal in the hands of a full-screen view: alternate screen, no cursor, keys as they are pressed.
///
/// It is given back in `deinit`.
final class Terminal {
    private var original = termios()
    private let hasKeys: Bool

    init() {
        hasKeys = tcgetattr(STDIN_FILENO, &original) == 0
        if hasKeys {
            var raw = original
            raw.c_lflag &= ~UInt32(ICANON | ECHO)
            tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        }
        try? Output.write("\u{1B}[?1049h\u{1B}[?25l")
    }

    deinit {
        if hasKeys { tcsetattr(STDIN_FILENO, TCSANOW, &original) }
        try? Output.write("\u{1B}[?25h\u{1B}[?1049l")
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

    init?(_ inputs: AsyncStream<ViewInput>.Continuation) {
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        source = DispatchSource.makeReadSource(
            fileDescriptor: STDIN_FILENO,
            queue: DispatchQueue(label: "backgrounder.keys")
        )
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            guard count > 0 else {
                inputs.yield(.quit)
                return
            }
            // An escape sequence is one of the keys that mean nothing here.
            guard bytes[0] != 0x1B else { return }
            for byte in bytes.prefix(count) { inputs.yield(.key(Character(Unicode.Scalar(byte)))) }
        }
        source.activate()
    }

    deinit {
        source.cancel()
    }
}

/// Turns signals into inputs.
final class SignalInput {
    private let sources: [any DispatchSourceSignal]

    init(_ signals: [Int32], _ inputs: AsyncStream<ViewInput>.Continuation, _ input: ViewInput) {
        let queue = DispatchQueue(label: "backgrounder.signals")
        sources = signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { inputs.yield(input) }
            source.activate()
            return source
        }
    }

    deinit {
        for source in sources { source.cancel() }
    }
}
