import Dispatch

/// Calls back once, a second after it was asked to; of several wishes the last counts.
final class RedrawTimer {
    private let source: any DispatchSourceTimer

    /// - Parameter handler: runs on a queue of its own.
    init(_ handler: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "backgrounder.redraw"))
        source.setEventHandler(handler: handler)
        source.schedule(deadline: .distantFuture)
        source.activate()
    }

    deinit {
        source.cancel()
    }

    func arm() {
        source.schedule(deadline: .now() + .seconds(1), leeway: .milliseconds(50))
    }

    func disarm() {
        source.schedule(deadline: .distantFuture)
    }
}
