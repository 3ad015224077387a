import Dispatch

/// A timer that fires once, a second after it was last armed.
final class RedrawTimer {
    private let source: any DispatchSourceTimer

    /// - Parameter handler: Runs on the timer's own queue.
    init(_ handler: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "backgrounder.redraw"))
        source.setEventHandler(handler: handler)
        source.schedule(deadline: .distantFuture)
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// Starts the second, or starts it over.
    func arm() {
        source.schedule(deadline: .now() + .seconds(1), leeway: .milliseconds(50))
    }

    /// Cancels the next call.
    func disarm() {
        source.schedule(deadline: .distantFuture)
    }
}
