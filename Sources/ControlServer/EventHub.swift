package import BackgrounderAPI
import FoundationEssentials
import NIOCore
import Synchronization

/// Passes what changed on to all readers of the event stream, each event encoded once.
///
/// May be called from any thread; nothing here waits for a reader.
package final class EventHub: Sendable {
    private struct State {
        var readers: [ObjectIdentifier: EventReader] = [:]
        var isStateDue = false
        var lastState = ContinuousClock.now - .seconds(1)
    }

    /// Between two states that are sent because something changed that no other event carries.
    private static let stateInterval = Duration.milliseconds(100)

    private let state = Mutex(State())
    private let clock: any Clock<Duration>
    let snapshot: @Sendable () async -> StateSnapshot

    /// - Parameter snapshot: the present state of all parts.
    package init(clock: any Clock<Duration>, snapshot: @escaping @Sendable () async -> StateSnapshot) {
        self.clock = clock
        self.snapshot = snapshot
    }

    package func post(_ event: Event) {
        let readers = state.withLock { Array($0.readers.values) }
        guard !readers.isEmpty else { return }
        let bytes = Self.encode(event)
        for reader in readers { reader.post(event, bytes: bytes) }
    }

    /// As each of `locations`, in their order.
    package func post(_ locations: [Location]) {
        guard state.withLock({ !$0.readers.isEmpty }) else { return }
        for location in locations { post(.location(location)) }
    }

    /// Something changed that only the state shows; readers get it soon, and at most 10 times a second.
    package func stateChanged() {
        let delay: Duration? = state.withLock { state in
            guard !state.isStateDue, !state.readers.isEmpty else { return nil }
            state.isStateDue = true
            return max(.zero, state.lastState + Self.stateInterval - .now)
        }
        guard let delay else { return }
        Task {
            // Cancellation does not reach this task, and the clock throws for nothing else.
            if delay > .zero { try? await clock.sleep(for: delay) }
            state.withLock { state in
                state.isStateDue = false
                state.lastState = .now
            }
            post(.state(await snapshot()))
        }
    }

    func add(_ reader: EventReader) {
        state.withLock { $0.readers[ObjectIdentifier(reader)] = reader }
    }

    func remove(_ reader: EventReader) {
        state.withLock { $0.readers[ObjectIdentifier(reader)] = nil }
    }

    /// A server-sent event (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    static func encode(_ event: Event) -> ByteBuffer {
        // The values hold finite numbers and valid strings only, so that they always encode.
        let data = (try? JSON.line(event.payload)) ?? "{}"
        return ByteBuffer(string: "event: \(event.name)\ndata: \(data)\n\n")
    }
}
