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
        /// Readers that a user has, or is about to have.
        var places: [UInt32: Int] = [:]
    }

    /// Bytes that may wait for all readers together. judgement
    private static let memory = 8 << 20
    private static let largestShare = 256 << 10
    private static let smallestShare = 32 << 10

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

    /// Reserves a place at the stream, which lasts as long as the returned object.
    ///
    /// - Throws: ``WireError`` with `unavailable` when this user has as many readers as it may have.
    func reservePlace(for user: SeatUser) throws(WireError) -> EventPlace {
        let isTaken = state.withLock { state in
            guard state.places[user.peer.user, default: 0] < user.mostReaders else { return false }
            state.places[user.peer.user, default: 0] += 1
            return true
        }
        guard isTaken else {
            throw WireError(
                .unavailable,
                "user \(user.peer.user) has \(user.mostReaders) readers of events already",
                hint: "end some of them"
            )
        }
        return EventPlace { [self] in
            state.withLock { state in
                let rest = state.places[user.peer.user, default: 1] - 1
                state.places[user.peer.user] = rest > 0 ? rest : nil
            }
        }
    }

    /// The bytes that may wait for each reader: few have plenty, and many share what there is.
    var share: Int {
        let count = state.withLock { $0.readers.count }
        return min(Self.largestShare, max(Self.smallestShare, Self.memory / max(count, 1)))
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

/// A place at the event stream; it is given back when the last reference to this goes.
final class EventPlace: Sendable {
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit { onEnd() }
}
