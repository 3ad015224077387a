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
            state.inFlight = bytes.readableBytes
            return bytes
        }
    }

    /// What was taken has been written.
    func sent() {
        state.withLock { $0.inFlight = 0 }
    }

    func finish() {
        signal.continuation.finish()
    }

    /// Sends the first state and then what came since, without the points that it already has.
    func begin(with snapshot: StateSnapshot, encoded: (Event) -> ByteBuffer) {
        let held = state.withLock { state in
            defer { state.held = nil }
            let known = Set(snapshot.track)
            let fresh = (state.held ?? []).filter { event in
                if case .location(let location) = event { !known.contains(location) } else { true }
            }
            return fresh
        }
        append(encoded(.state(snapshot)))
        for event in held { append(encoded(event)) }
    }

    /// Queues `event`, or keeps it back until the first state was sent.
    func post(_ event: Event, bytes: ByteBuffer) {
        let isHeld = state.withLock { state in
            state.held?.append(event)
            return state.held != nil
        }
        if !isHeld { append(bytes) }
    }

    func append(_ bytes: ByteBuffer) {
        let overflows = state.withLock { state in
            state.pending.writeImmutableBuffer(bytes)
            return state.pending.readableBytes + state.inFlight > Self.limit
        }
        if overflows {
            finish()
            onOverflow()
        } else {
            signal.continuation.yield()
        }
    }
}
