package import BackgrounderAPI
import FoundationEssentials
import NIOCore
import Synchronization

/// Distributes events to all readers of the event stream, encoding each once.
///
/// Any thread; nothing waits for a reader.
package final class EventHub: Sendable {
    /// The sending of states: one at a time, so that an older snapshot never follows a newer one.
    private enum StateReport {
        case idle, due
        case sending(isDueAgain: Bool)
    }

    private struct State {
        var readers: [ObjectIdentifier: EventReader] = [:]
        var report = StateReport.idle
        var lastState = ContinuousClock.now - .seconds(1)
        /// The numbers of readers per caller, including reserved places.
        var places: [Caller.Identity: Int] = [:]
    }

    /// Tuned: bytes that may wait for all readers together.
    private static let memory = 8 << 20
    private static let largestShare = 256 << 10
    private static let smallestShare = 32 << 10

    /// The least interval between two states that are sent because of a change that no other event carries.
    private static let stateInterval = Duration.milliseconds(100)

    private let state = Mutex(State())
    private let clock: any Clock<Duration>
    let snapshot: @Sendable () async -> StateSnapshot

    /// Creates a hub without readers.
    ///
    /// - Parameter snapshot: returns the current state of all parts.
    package init(clock: any Clock<Duration>, snapshot: @escaping @Sendable () async -> StateSnapshot) {
        self.clock = clock
        self.snapshot = snapshot
    }

    /// Posts an event to all readers.
    package func post(_ event: Event) {
        let readers = state.withLock { Array($0.readers.values) }
        guard !readers.isEmpty else { return }
        let bytes = Self.encode(event)
        for reader in readers { reader.post(event, bytes: bytes) }
    }

    /// Posts one event per location, in order.
    package func post(_ locations: [Location]) {
        guard state.withLock({ !$0.readers.isEmpty }) else { return }
        for location in locations { post(.location(location)) }
    }

    /// Reports a change that only the state shows. Readers receive the state soon, at most 10 times a second.
    package func stateChanged() {
        let begins = state.withLock { state in
            guard !state.readers.isEmpty else { return false }
            switch state.report {
            case .idle:
                state.report = .due
                return true
            case .due: return false
            case .sending:
                state.report = .sending(isDueAgain: true)
                return false
            }
        }
        if begins { Task { await sendStates() } }
    }

    /// Sends the state, and again as long as it changes meanwhile.
    private func sendStates() async {
        var isDue = true
        while isDue {
            let delay = state.withLock { max(.zero, $0.lastState + Self.stateInterval - .now) }
            // The clock throws only on cancellation, which does not reach this task.
            if delay > .zero { try? await clock.sleep(for: delay) }
            state.withLock { state in
                state.report = .sending(isDueAgain: false)
                state.lastState = .now
            }
            post(.state(await snapshot()))
            isDue = state.withLock { state in
                guard case .sending(isDueAgain: true) = state.report else {
                    state.report = .idle
                    return false
                }
                state.report = .due
                return true
            }
        }
    }

    func add(_ reader: EventReader) {
        state.withLock { $0.readers[ObjectIdentifier(reader)] = reader }
    }

    /// Reserves a place at the stream for the lifetime of the returned object.
    ///
    /// - Throws: ``WireError`` with `unavailable` if the caller has the maximum of readers.
    func reservePlace(for caller: Caller) throws(WireError) -> EventPlace {
        let isTaken = state.withLock { state in
            guard state.places[caller.identity, default: 0] < caller.mostReaders else { return false }
            state.places[caller.identity, default: 0] += 1
            return true
        }
        guard isTaken else {
            throw WireError(
                .unavailable,
                "\(caller.identity) already has \(caller.mostReaders) event readers, the maximum",
                hint: "close some of them"
            )
        }
        return EventPlace { [self] in
            state.withLock { state in
                let rest = state.places[caller.identity, default: 1] - 1
                state.places[caller.identity] = rest > 0 ? rest : nil
            }
        }
    }

    /// The bytes that may wait for each reader: the memory divided by their number.
    var share: Int {
        let count = state.withLock { $0.readers.count }
        return min(Self.largestShare, max(Self.smallestShare, Self.memory / max(count, 1)))
    }

    func remove(_ reader: EventReader) {
        state.withLock { $0.readers[ObjectIdentifier(reader)] = nil }
    }

    /// Encodes a server-sent event (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    static func encode(_ event: Event) -> ByteBuffer {
        // The values have only finite numbers and valid strings, so they always encode.
        let data = (try? JSON.line(event.payload)) ?? "{}"
        return ByteBuffer(string: "event: \(event.name)\ndata: \(data)\n\n")
    }
}

/// A place at the event stream, released with the last reference to it.
final class EventPlace: Sendable {
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit { onEnd() }
}
