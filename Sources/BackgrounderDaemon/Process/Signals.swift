import Dispatch
import Glibc

/// Turns signals into calls on a queue of their own.
final class Signals {
    private static let queue = DispatchQueue(label: "backgrounder.signals")
    private let sources: [any DispatchSourceSignal]

    /// Handles each of `signals` with `handler`.
    init(_ signals: [CInt], handler: @escaping @Sendable (CInt) -> Void) {
        sources = signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: Self.queue)
            source.setEventHandler { handler(number) }
            source.activate()
            return source
        }
    }
}
