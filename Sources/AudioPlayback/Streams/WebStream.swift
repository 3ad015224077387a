import Dispatch
import MediaFiles
import Synchronization
import SystemSupport

/// The sound of an address: read ahead into a bounded buffer, and continued after the link broke.
///
/// A task reads from the network, and the decoder thread from the buffer. A broken link is made again after 1 s, doubling
/// to 30 s: a file continues at its byte, and a live stream tunes in again.
final class WebStream: MediaStream {
    /// Tuned: the attempts in a row without another byte after which a file counts as cut.
    private static let mostVainAttempts = 3

    /// Tuned: the bytes for which the decoder is woken, so that a live stream wakes it a few times a second.
    private static let wakeSize = 1 << 12

    /// The state of the stream for the reader of an empty buffer.
    private enum Link: Equatable {
        /// Bytes arrive, or will: the reason is what to show while there are none.
        case open(String)
        case ended
        case failed(String)
        case cancelled
    }

    private struct State {
        var link: Link
        var buffer = StreamBuffer()
        var head: StreamReply?
        /// The byte of the file that the network delivers next.
        var offset = 0
        /// Counts the jumps; bytes of an earlier epoch are discarded.
        var epoch = 0
        var isReaderWaiting = false
        /// The task waits until there is room.
        var writer: CheckedContinuation<Void, Never>?
        /// When the network counts as stalled; nil while nothing is expected from it.
        var deadline: ContinuousClock.Instant?
        var task: Task<Void, Never>?
    }

    let address: String
    let web: WebStreams
    private let onChange: @Sendable () -> Void
    private let state: Mutex<State>
    private let arrival = DispatchSemaphore(value: 0)

    init(_ address: String, _ web: WebStreams, onChange: @escaping @Sendable () -> Void) {
        (self.address, self.web, self.onChange) = (address, web, onChange)
        state = Mutex(State(link: .open("connecting")))
    }

    func start() { restart(from: 0) }

    // MARK: The decoder's side

    var size: Int? { state.withLock { $0.head?.version.size } }
    var isLive: Bool { state.withLock { $0.head?.isLive ?? false } }
    var station: String? { state.withLock { $0.head?.station } }
    /// The title of the sound that was read last.
    var title: String? { state.withLock { $0.buffer.title } }
    var isCancelled: Bool { state.withLock { $0.link == .cancelled } }

    var failure: String? {
        state.withLock { if case .failed(let reason) = $0.link { reason } else { nil } }
    }

    func read(into memory: UnsafeMutableRawPointer, count: Int) -> Int {
        while true {
            let (taken, writer): (Int?, CheckedContinuation<Void, Never>?) = state.withLock { state in
                if state.link == .cancelled { return (0, nil) }
                let taken = state.buffer.take(into: memory, count)
                if taken > 0 { return (taken, state.buffer.isHalfFree ? state.writer.take() : nil) }
                guard case .open = state.link else { return (0, nil) }
                state.isReaderWaiting = true
                return (nil, nil)
            }
            writer?.resume()
            if let taken { return taken }
            arrival.wait()
        }
    }

    func jump(to offset: Int) { restart(from: offset) }

    func cancel() {
        let (task, writer) = state.withLock { state in
            state.link = .cancelled
            state.epoch += 1
            state.buffer = StreamBuffer()
            return (state.task.take(), state.writer.take())
        }
        task?.cancel()
        writer?.resume()
        arrival.signal()
    }

    private func restart(from offset: Int) {
        let (task, writer) = state.withLock { state -> (Task<Void, Never>?, CheckedContinuation<Void, Never>?) in
            guard state.link != .cancelled else { return (nil, nil) }
            state.epoch += 1
            state.offset = offset
            state.buffer = StreamBuffer()
            state.link = .open("connecting")
            let (old, epoch) = (state.task, state.epoch)
            state.task = Task { await self.run(epoch) }
            return (old, state.writer.take())
        }
        task?.cancel()
        writer?.resume()
    }

    // MARK: The player's side

    /// Why the buffer may be empty; nil when no more bytes arrive.
    var waitReason: String? { state.withLock { if case .open(let reason) = $0.link { reason } else { nil } } }

    // MARK: The network's side

    private func run(_ epoch: Int) async {
        var pause = web.limits.firstPause
        var vainAttempts = 0
        while isCurrent(epoch) {
            // A live stream has no bytes to continue at.
            let before = state.withLock { $0.head?.isLive == true ? 0 : $0.offset }
            let attempt = StreamAttempt(self, epoch, from: before)
            switch await attempt.run() {
            case .cancelled: return
            case .ended: return close(.ended, epoch)
            case .failed(let reason): return close(.failed(reason), epoch)
            case .broken(let reason, let hadReply):
                let received = state.withLock(\.offset) - before
                vainAttempts = hadReply && received == 0 && before > 0 ? vainAttempts + 1 : 0
                if vainAttempts == Self.mostVainAttempts, let size, !isLive {
                    return close(.failed("the server ends the file early: \(before) of \(size) bytes"), epoch)
                }
                // A link that breaks right after its first bytes does not count as working.
                if received >= StreamBuffer.limit / 4 { pause = web.limits.firstPause }
                show("\(reason); retrying", epoch)
                guard (try? await web.clock.sleep(for: pause)) != nil else { return }
                pause = min(pause * 2, web.limits.longestPause)
            }
        }
    }

    private func isCurrent(_ epoch: Int) -> Bool { state.withLock { $0.epoch == epoch } }

    private func close(_ link: Link, _ epoch: Int) {
        state.withLock { if $0.epoch == epoch { $0.link = link } }
        wakeReader()
    }

    /// Sets the reason to show for an empty buffer.
    func show(_ reason: String, _ epoch: Int) {
        let isNew = state.withLock { state in
            guard state.epoch == epoch, state.link != .open(reason) else { return false }
            state.link = .open(reason)
            return true
        }
        if isNew { onChange() }
    }

    private func wakeReader() {
        let isWaiting = state.withLock { state in
            defer { state.isReaderWaiting = false }
            return state.isReaderWaiting
        }
        if isWaiting { arrival.signal() }
    }

    /// Sets how long the network may be silent from now on; nil if nothing is expected from it.
    func expect(within limit: Duration?, _ epoch: Int) {
        state.withLock { state in
            if state.epoch == epoch { state.deadline = limit.map { .now + $0 } }
        }
    }

    /// Returns the time until the network counts as stalled: zero or less if it does, nil if nothing is expected from it.
    func patience(_ epoch: Int) -> Duration? {
        state.withLock { $0.deadline.map { ContinuousClock.now.duration(to: $0) } }
    }

    /// Takes over the head of a reply. Returns the version that the bytes so far belong to.
    var version: StreamReply.Version? { state.withLock { $0.head?.version } }

    func begin(_ reply: StreamReply, _ epoch: Int) {
        state.withLock { state in
            guard state.epoch == epoch else { return }
            // A reply from the middle of a file does not tell its beginning.
            state.head = reply
            if reply.isLive { state.offset = 0 }
        }
    }

    /// Appends bytes that follow those so far, and waits while the buffer is full. Returns false if they are not wanted.
    func append(_ pieces: [IcyMetadata.Piece], _ epoch: Int) async -> Bool {
        let isWanted = state.withLock { state in
            guard state.epoch == epoch, state.link != .cancelled else { return false }
            for piece in pieces {
                switch piece {
                case .sound(let bytes):
                    state.buffer.append(bytes)
                    state.offset += bytes.count
                case .title(let title): state.buffer.append(title: title)
                }
            }
            return true
        }
        guard isWanted else { return false }
        if state.withLock({ $0.buffer.count >= Self.wakeSize }) { wakeReader() }
        guard state.withLock({ $0.buffer.isFull }) else { return true }
        expect(within: nil, epoch)
        await withCheckedContinuation { continuation in
            let isFull = state.withLock { state in
                guard state.epoch == epoch, state.buffer.isFull else { return false }
                state.writer = continuation
                return true
            }
            if !isFull { continuation.resume() }
        }
        return isCurrent(epoch)
    }
}
