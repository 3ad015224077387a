import NIOCore
import Synchronization

/// The times of an attached reader.
package struct ReaderTimes: Sendable {
    /// A comment is sent so often.
    package var keepalive = Duration.seconds(15)
    /// What lies unread for so long makes a reader stalled.
    package var stall = Duration.seconds(5)

    package init() {}
}

/// Watches one reader: tells it when what was sent lies unread for a second, so that it is sent no more times, and when it does
/// no longer. For one that is attached it also sends a comment every 15 s, and tells when it stalls: when something lies unread
/// for 5 s. While nothing lies unread it costs nothing but the comments.
final class StallWatch: Sendable {
    private enum State {
        case upToDate
        case unread(since: NIODeadline, Lag)
        case stopped
    }

    private enum Lag: Comparable { case none, behind, stalled }

    /// What a reader that reads leaves unread for so long is an accident of the sample.
    private static let patience = TimeAmount.seconds(1)

    private let reader: EventReader
    private let limit: TimeAmount
    private let channel: any Channel
    private let attachment: Int?
    private let keepalive: RepeatedTask?
    private let onChange: @Sendable (Int, Bool) async -> Void
    private let state = Mutex(State.upToDate)

    /// - Parameters:
    ///   - attachment: the reader's number; `nil` for one that is not attached.
    ///   - onChange: the number, and true when that reader stalled, false when it reads again.
    init(
        channel: any Channel,
        reader: EventReader,
        times: ReaderTimes,
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
            attachment == nil
            ? nil
            : channel.eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in
                reader.append(ByteBuffer(string: ": keepalive\n\n"))
            }
    }

    /// Something was sent; from now on it is watched until all is read.
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

    // judgement: a stall of 5 s is told within 5.25 s, and its end within 1 s; hundreds of readers that never read are cheap
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

/// Linux's `SO_MEMINFO`: for a Unix socket the third number is what `ioctl(SIOCOUTQ)` says, the bytes that the
/// peer has not read, and unlike that call it needs no file descriptor (`sk_get_meminfo` in net/core/sock.c).
private struct SocketMemory {
    static let option = NIOBSDSocket.Option(rawValue: 55)

    var receiveAllocated: UInt32 = 0
    var receiveBuffer: UInt32 = 0
    var unread: UInt32 = 0
    var rest: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0, 0)
}
