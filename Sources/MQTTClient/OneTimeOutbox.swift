import Synchronization
package import SystemSupport

/// Sends messages once, on the first connection. Any thread.
package final class OneTimeOutbox: MQTTOutbox {
    private struct State {
        var messages: [MQTTPublication]
        var unacknowledged: Int
    }

    private let state: Mutex<State>
    private let onSent: @Sendable () -> Void

    /// - Parameters:
    ///   - messages: of QoS 1.
    ///   - onSent: called once the broker has all messages.
    package init(_ messages: [MQTTPublication], onSent: @escaping @Sendable () -> Void) {
        state = Mutex(State(messages: messages.reversed(), unacknowledged: messages.count))
        self.onSent = onSent
    }

    /// Does nothing.
    package func opened(at time: MonotonicTime) {}

    /// Returns the next message.
    package func next(at time: MonotonicTime) -> MQTTTurn {
        state.withLock { state in state.messages.popLast().map { .send($0) } ?? .wait(until: nil) }
    }

    /// Counts messages that the broker has.
    package func acknowledged(_ tags: [Int64], at time: MonotonicTime) {
        let isOver = state.withLock { state in
            state.unacknowledged -= tags.count
            return state.unacknowledged == 0
        }
        if isOver { onSent() }
    }

    /// Does nothing.
    package func closed(at time: MonotonicTime) {}

    /// Returns nothing.
    package func farewell(forgetting: Bool) -> [MQTTPublication] { [] }
}
