import BackgrounderAPI
import NIOCore
import Synchronization

/// What one reader of the event stream has not been sent yet: bounded, so that a reader that stalls costs at most its share of
/// the memory and then its connection.
final class EventReader: Sendable {
    /// An event that waits. The bytes are shared with the other readers.
    private struct Piece {
        let bytes: ByteBuffer
        let isState: Bool
    }

    private struct State {
        /// Events that came while the first state was being put together; `nil` once that was sent.
        var held: [Event]? = []
        var pending: [Piece] = []
        /// Comes behind `pending`, and is encoded when it is taken, as a newer one may take its place until then.
        var time: PlayerTime?
        /// Whether a time waits, encoded or not.
        var hasTime = false
        /// Bytes in `pending` and on their way, without those of states: a long queue alone must not keep a reader out, and of
        /// the states only the newest waits.
        var pendingSize = 0
        /// Whether what was sent lies unread.
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

    /// What the reader's pace means for the times that it observes.
    private enum Pace { case wantsNext, isBehind }

    private let state = Mutex(State())
    private let signal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let pace = AsyncStream.makeStream(of: Pace.self, bufferingPolicy: .bufferingNewest(1))
    private let limit: @Sendable () -> Int
    private let onOverflow: @Sendable () -> Void

    /// - Parameters:
    ///   - limit: so many bytes may wait.
    ///   - onOverflow: called, on the thread of the event that was one too many, to end the connection.
    init(limit: @escaping @Sendable () -> Int, onOverflow: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.onOverflow = onOverflow
    }

    /// Yields when there is something to ``take()``; ends with ``finish()``.
    var signals: AsyncStream<Void> { signal.stream }

    /// All that waits, in one piece.
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

    /// What was taken has been written.
    func sent() {
        state.withLock { $0.sizeInFlight = 0 }
    }

    /// A reader that does not read gets no more times until it does.
    func setBehind(_ isBehind: Bool) {
        state.withLock { $0.isBehind = isBehind }
        pace.continuation.yield(isBehind ? .isBehind : .wantsNext)
    }

    /// Passes times on, each when the one before it was taken; until they end, the reader ends or the task is cancelled.
    ///
    /// - Parameter times: begins to observe. Nothing is observed while the reader is behind.
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

    /// - Returns: `isBehind` when the reader is; `nil` when the times or the reader ended.
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
