import BackgrounderAPI
import NIOCore
import Synchronization

/// The events that wait for one reader of the event stream. They are bounded: a stalled reader costs at most its share of the memory,
/// and then its connection.
final class EventReader: Sendable {
    /// A waiting event. The bytes are shared with the other readers.
    private struct Piece {
        let bytes: ByteBuffer
        let isState: Bool
    }

    private struct State {
        /// Events that were posted before the first state was ready; `nil` once the state was sent.
        var held: [Event]? = []
        var pending: [Piece] = []
        /// Follows `pending`. Encoded when it is taken, because a newer time may replace it until then.
        var time: PlayerTime?
        /// Whether a time waits, encoded or not.
        var hasTime = false
        /// The bytes in `pending` and in transit, except those of states: a long queue alone must not disconnect a reader, and only the
        /// newest state waits.
        var pendingSize = 0
        /// Whether sent data is unread.
        var isBehind = false
        var sizeInFlight = 0

        mutating func append(_ bytes: ByteBuffer, isState: Bool) {
            encodeTime()
            if isState, let older = pending.lastIndex(where: \.isState) { pending.remove(at: older) }
            if !isState { pendingSize += bytes.readableBytes }
            pending.append(Piece(bytes: bytes, isState: isState))
        }

        mutating func encodeTime() {
            guard let time else { return }
            self.time = nil
            append(EventHub.encode(.time(time)), isState: false)
        }
    }

    /// The effect of the reader's pace on the observed times.
    private enum Pace { case wantsNext, isBehind }

    private let state = Mutex(State())
    private let signal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let pace = AsyncStream.makeStream(of: Pace.self, bufferingPolicy: .bufferingNewest(1))
    private let limit: @Sendable () -> Int
    private let onOverflow: @Sendable () -> Void

    /// Creates a reader that waits for its first state.
    ///
    /// - Parameters:
    ///   - limit: returns how many bytes may wait.
    ///   - onOverflow: called on the thread of the event that exceeds the limit, to close the connection.
    init(limit: @escaping @Sendable () -> Int, onOverflow: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.onOverflow = onOverflow
    }

    /// A stream that yields when there is something to ``take()``, and ends with ``finish()``.
    var signals: AsyncStream<Void> { signal.stream }

    /// Returns everything that waits, as one buffer.
    func take() -> ByteBuffer {
        let (pieces, hadTime) = state.withLock { state in
            let hadTime = state.hasTime && !state.isBehind
            state.hasTime = false
            state.encodeTime()
            defer { (state.pending, state.pendingSize, state.sizeInFlight) = ([], 0, state.pendingSize) }
            return (state.pending, hadTime)
        }
        if hadTime { pace.continuation.yield(.wantsNext) }
        guard pieces.count != 1 else { return pieces[0].bytes }
        var bytes = ByteBuffer()
        bytes.reserveCapacity(pieces.reduce(0) { $0 + $1.bytes.readableBytes })
        for piece in pieces { bytes.writeImmutableBuffer(piece.bytes) }
        return bytes
    }

    /// Reports that the taken bytes were written.
    func sent() {
        state.withLock { $0.sizeInFlight = 0 }
    }

    /// Sets whether the reader is behind; it then receives no times.
    func setBehind(_ isBehind: Bool) {
        state.withLock { $0.isBehind = isBehind }
        pace.continuation.yield(isBehind ? .isBehind : .wantsNext)
    }

    /// Forwards times, each after the previous one was taken, until they end, the reader ends or the task is cancelled.
    ///
    /// - Parameter times: starts observing. Nothing is observed while the reader is behind.
    func observe(_ times: () async -> AsyncStream<PlayerTime>) async {
        var paces = pace.stream.makeAsyncIterator()
        var next: Pace? = .wantsNext
        while let now = next {
            next =
                switch now {
                case .wantsNext: await passOn(await times(), &paces)
                case .isBehind: await paces.next()
                }
        }
    }

    /// Forwards times until the reader is behind.
    ///
    /// - Returns: `isBehind`, or `nil` if the times or the reader ended.
    private func passOn(_ times: AsyncStream<PlayerTime>, _ paces: inout AsyncStream<Pace>.Iterator) async -> Pace? {
        for await time in times {
            change { ($0.time, $0.hasTime) = (time, true) }
            let next = await paces.next(isolation: #isolation)
            guard next == .wantsNext else { return next }
        }
        return nil
    }

    func finish() {
        signal.continuation.finish()
        pace.continuation.finish()
    }

    /// Sends the first state and then the events since, without the points that the state contains.
    func begin(with snapshot: StateSnapshot, encoded: (Event) -> ByteBuffer) {
        let first = encoded(.state(snapshot))
        let known = Set(snapshot.track)
        change { state in
            // Under the same lock as the end of holding: later events must not overtake these.
            state.append(first, isState: true)
            for event in state.held ?? [] {
                if case .location(let location) = event, known.contains(location) { continue }
                state.append(encoded(event), isState: event.isState)
            }
            state.held = nil
        }
    }

    /// Queues `event`, or holds it until the first state was sent.
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
        let (size, hasNews) = state.withLock { state in
            body(&state)
            return (state.pendingSize + state.sizeInFlight, !state.pending.isEmpty || state.time != nil)
        }
        if size > limit() {
            finish()
            onOverflow()
        } else if hasNews {
            signal.continuation.yield()
        }
    }
}

extension Event {
    fileprivate var isState: Bool {
        if case .state = self { true } else { false }
    }
}
