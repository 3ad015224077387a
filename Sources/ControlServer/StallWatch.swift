import NIOCore
import Synchronization

/// The time limits of readers.
package struct ReaderTimes: Sendable {
    /// The interval of keepalive comments, for attached readers and pages.
    package var keepalive = Duration.seconds(15)
    /// The time after which unread data makes a reader stalled.
    package var stall = Duration.seconds(5)

    /// Creates the default limits.
    package init() {}
}

/// Watches whether a reader reads. After a second of unread data the reader receives no times until it has read. An attached reader and
/// a page also receive a comment every 15 s, and for an attached reader 5 s of unread data are reported as a stall. Without unread data
/// a watch costs only the comments.
final class StallWatch: Sendable {
    private enum State {
        case upToDate
        case unread(since: NIODeadline, Lag)
        case stopped
    }

    private enum Lag: Comparable { case none, behind, stalled }

    /// Data that is unread for a shorter time is a coincidence of sampling.
    private static let patience = TimeAmount.seconds(1)

    private let reader: EventReader
    private let limit: TimeAmount
    private let channel: any Channel
    private let attachment: Int?
    private let keepalive: RepeatedTask?
    private let onChange: @Sendable (Int, Bool) async -> Void
    private let state = Mutex(State.upToDate)

    /// Creates a watch.
    ///
    /// - Parameters:
    ///   - isKeptAlive: whether the reader receives comments.
    ///   - attachment: the reader's id; `nil` if it is not attached.
    ///   - onChange: receives the id, and whether the reader stalled (true) or reads again (false).
    init(
        channel: any Channel,
        reader: EventReader,
        times: ReaderTimes,
        isKeptAlive: Bool,
        attachment: Int?,
        onChange: @escaping @Sendable (Int, Bool) async -> Void
    ) {
        self.reader = reader
        limit = TimeAmount(times.stall)
        self.channel = channel
        self.attachment = attachment
        self.onChange = onChange
        let pause = TimeAmount(times.keepalive)
        keepalive =
            isKeptAlive
            ? channel.eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in
                reader.append(ByteBuffer(string: ": keepalive\n\n"))
            } : nil
    }

    /// Starts watching after data was sent, until everything is read.
    func wrote() {
        let begins = state.withLock { state in
            guard case .upToDate = state else { return false }
            state = .unread(since: .now(), .none)
            return true
        }
        if begins { scheduleSample(.none) }
    }

    func stop() {
        state.withLock { $0 = .stopped }
        keepalive?.cancel()
    }

    // Tuned: a stall of 5 s is reported within 5.25 s and its end within 1 s, and hundreds of readers that never read are cheap.
    private func scheduleSample(_ lag: Lag) {
        let interval = TimeAmount.nanoseconds(limit.nanoseconds / (lag == .none ? 20 : 5))
        channel.eventLoop.scheduleTask(in: interval) { self.sample() }
    }

    private func sample() {
        guard let provider = channel as? any SocketOptionProvider, channel.isActive else { return }
        provider.unsafeGetSocketOption(level: .socket, name: SocketMemory.option).whenComplete { result in
            self.sampled(((try? result.get()) ?? SocketMemory()).unread > 0)
        }
    }

    private func sampled(_ isUnread: Bool) {
        let change: (from: Lag, to: Lag)? = state.withLock { state in
            guard case .unread(let since, let old) = state else { return nil }
            guard isUnread else {
                state = .upToDate
                return (old, .none)
            }
            let age = NIODeadline.now() - since
            let new: Lag = age >= limit ? .stalled : age >= Self.patience ? .behind : .none
            state = .unread(since: since, new)
            return (old, new)
        }
        guard let change else { return }
        if isUnread { scheduleSample(change.to) }
        if (change.from >= .behind) != (change.to >= .behind) { reader.setBehind(change.to >= .behind) }
        if (change.from == .stalled) != (change.to == .stalled) { tell(change.to == .stalled) }
    }

    private func tell(_ isStalled: Bool) {
        if let attachment { Task { await onChange(attachment, isStalled) } }
    }
}

/// Linux's `SO_MEMINFO` (`sk_get_meminfo` in net/core/sock.c), which needs no file descriptor.
private struct SocketMemory {
    static let option = NIOBSDSocket.Option(rawValue: 55)

    private var receiveAllocated: UInt32 = 0
    private var receiveBuffer: UInt32 = 0
    /// For a Unix socket the bytes that the peer has not read, as `ioctl(SIOCOUTQ)`.
    private var sendAllocated: UInt32 = 0
    private var sendBuffer: UInt32 = 0
    private var reserved: UInt32 = 0
    /// For TCP the memory of the bytes that the peer's system has not confirmed. They are few while it has room for more, even if the
    /// peer does not read.
    private var sendQueued: UInt32 = 0
    private var rest: (UInt32, UInt32, UInt32) = (0, 0, 0)

    var unread: UInt32 { max(sendAllocated, sendQueued) }
}
