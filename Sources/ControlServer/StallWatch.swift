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
    private struct State {
        var isSampling = false
        var isBehind = false
        var isStalled = false
        var isStopped = false
        var unreadSince: NIODeadline?
        var keepalive: RepeatedTask?
    }

    /// What a reader that reads leaves unread for so long is an accident of the sample.
    private static let patience = TimeAmount.seconds(1)

    private let reader: EventReader
    private let limit: TimeAmount
    private let interval: TimeAmount
    private let channel: any Channel
    private let attachment: Int?
    private let onChange: @Sendable (Int, Bool) async -> Void
    private let state = Mutex(State())

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
        interval = TimeAmount(times.stall / 20)  // judgement: a stall of 5 s is told within 5.25 s
        self.channel = channel
        self.attachment = attachment
        self.onChange = onChange
        guard attachment != nil else { return }
        let pause = TimeAmount(times.keepalive)
        let keepalive = channel.eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in
            reader.append(ByteBuffer(string: ": keepalive\n\n"))
        }
        state.withLock { $0.keepalive = keepalive }
    }

    /// Something was sent; from now on it is watched until all is read.
    func wrote() {
        let begins = state.withLock { state in
            guard !state.isSampling, !state.isStopped else { return false }
            state.isSampling = true
            state.unreadSince = .now()
            return true
        }
        if begins { scheduleSample() }
    }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.keepalive?.cancel()
        }
    }

    private func scheduleSample() {
        channel.eventLoop.scheduleTask(in: interval) { self.sample() }
    }

    private func sample() {
        guard let provider = channel as? any SocketOptionProvider, channel.isActive else { return }
        provider.unsafeGetSocketOption(level: .socket, name: SocketMemory.option).whenComplete { result in
            self.sampled(((try? result.get()) ?? SocketMemory()).unread > 0)
        }
    }

    private func sampled(_ isUnread: Bool) {
        enum Change { case behind, stalled, upToDate(wasStalled: Bool) }
        let (change, goesOn): (Change?, Bool) = state.withLock { state in
            guard !state.isStopped else { return (nil, false) }
            guard isUnread else {
                defer {
                    (state.isBehind, state.isStalled, state.isSampling, state.unreadSince) = (false, false, false, nil)
                }
                return (state.isBehind ? .upToDate(wasStalled: state.isStalled) : nil, false)
            }
            let age = state.unreadSince.map { .now() - $0 } ?? .zero
            if !state.isBehind, age >= min(Self.patience, limit) {
                state.isBehind = true
                return (.behind, true)
            }
            guard !state.isStalled, age >= limit else { return (nil, true) }
            state.isStalled = true
            return (.stalled, true)
        }
        if goesOn { scheduleSample() }
        switch change {
        case .behind: reader.setBehind(true)
        case .stalled: tell(true)
        case .upToDate(let wasStalled):
            reader.setBehind(false)
            if wasStalled { tell(false) }
        case nil: break
        }
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
