import BackgrounderAPI
import NIOCore
import Synchronization

/// What one reader of the event stream has not been sent yet: bounded, so that a reader that stalls costs 256 KiB and then
/// its connection.
final class EventReader: Sendable {
    private static let limit = 256 << 10

    private struct State {
        /// Events that came while the first state was being put together; `nil` once that was sent.
        var held: [Event]? = []
        var pending = ByteBuffer()
        var inFlight = 0
        /// Bytes of the newest state within each; they do not count, since a long queue alone must not keep a reader out.
        var pendingState = 0
        var inFlightState = 0

        var unsent: Int { pending.readableBytes - pendingState + inFlight - inFlightState }

        mutating func append(_ bytes: ByteBuffer, isState: Bool) {
            pending.writeImmutableBuffer(bytes)
            if isState { pendingState = bytes.readableBytes }
        }
    }

    private let state = Mutex(State())
    private let signal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let onOverflow: @Sendable () -> Void

    /// - Parameter onOverflow: called, on the thread of the event that was one too many, to end the connection.
    init(onOverflow: @escaping @Sendable () -> Void) {
        self.onOverflow = onOverflow
    }

    /// Yields when there is something to ``take()``; ends with ``finish()``.
    var signals: AsyncStream<Void> { signal.stream }

    /// All that waits, in one piece.
    func take() -> ByteBuffer {
        state.withLock { state in
            let bytes = state.pending
            state.pending = ByteBuffer()
            (state.inFlight, state.inFlightState) = (bytes.readableBytes, state.pendingState)
            state.pendingState = 0
            return bytes
        }
    }

    /// What was taken has been written.
    func sent() {
        state.withLock { ($0.inFlight, $0.inFlightState) = (0, 0) }
    }

    func finish() {
        signal.continuation.finish()
    }

    /// Sends the first state and then what came since, without the points that it already has.
    func begin(with snapshot: StateSnapshot, encoded: (Event) -> ByteBuffer) {
        let first = encoded(.state(snapshot))
        let known = Set(snapshot.track)
        change { state in
            // In one piece with the end of the holding back: what comes from now on must not get in before these.
            state.append(first, isState: true)
            for event in state.held ?? [] {
                if case .location(let location) = event, known.contains(location) { continue }
                state.append(encoded(event), isState: event.isState)
            }
            state.held = nil
        }
    }

    /// Queues `event`, or keeps it back until the first state was sent.
    func post(_ event: Event, bytes: ByteBuffer) {
        change { state in
            guard state.held == nil else {
                state.held?.append(event)
                return
            }
            state.append(bytes, isState: event.isState)
        }
    }

    func append(_ bytes: ByteBuffer) {
        change { $0.append(bytes, isState: false) }
    }

    private func change(_ body: (inout State) -> Void) {
        let (overflows, hasBytes) = state.withLock { state in
            body(&state)
            return (state.unsent > Self.limit, state.pending.readableBytes > 0)
        }
        if overflows {
            finish()
            onOverflow()
        } else if hasBytes {
            signal.continuation.yield()
        }
    }
}

extension Event {
    fileprivate var isState: Bool {
        if case .state = self { true } else { false }
    }
}
