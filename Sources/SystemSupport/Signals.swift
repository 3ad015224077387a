import Dispatch
import Glibc

/// Delivers signals as calls on a queue of their own.
package final class Signals {
    private static let queue = DispatchQueue(label: "backgrounder.signals")
    private let sources: [any DispatchSourceSignal]

    /// Handles each of `signals` with `handler` once it returns; an earlier signal has its default effect.
    package init(_ signals: [CInt], handler: @escaping @Sendable (CInt) -> Void) {
        // Not ignored meanwhile: a SIGTERM at that moment would be lost, and the service would never end.
        let isRegistered = DispatchSemaphore(value: 0)
        sources = signals.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: Self.queue)
            source.setEventHandler { handler(number) }
            source.setRegistrationHandler { isRegistered.signal() }
            source.activate()
            return source
        }
        for _ in signals { isRegistered.wait() }
    }
}
