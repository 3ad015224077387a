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

/// Watches one attached reader: sends a comment every 15 s, and tells when what was sent lies unread for 5 s, and when it
/// does no longer. While nothing lies unread it costs one wakeup in 15 s.
final class StallWatch: Sendable {
    private struct State {
        var isSampling = false
        var isStalled = false
        var isStopped = false
        var unreadSince: NIODeadline?
        var keepalive: RepeatedTask?
    }

    private let limit: TimeAmount
    private let interval: TimeAmount
    private let channel: any Channel
    private let onChange: @Sendable (Bool) async -> Void
    private let state = Mutex(State())

    /// - Parameter onChange: true when the reader stalled, false when it reads again.
    init(
        channel: any Channel,
        reader: EventReader,
        times: ReaderTimes,
        onChange: @escaping @Sendable (Bool) async -> Void
    ) {
        limit = TimeAmount(times.stall)
        interval = TimeAmount(times.stall / 20)  // judgement: a stall of 5 s is told within 5.25 s
        self.channel = channel
        self.onChange = onChange
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
        let (change, goesOn): (Bool?, Bool) = state.withLock { state in
            guard !state.isStopped else { return (nil, false) }
            guard isUnread else {
                defer { (state.isStalled, state.isSampling, state.unreadSince) = (false, false, nil) }
                return (state.isStalled ? false : nil, false)
            }
            guard !state.isStalled, let since = state.unreadSince, .now() - since >= limit else { return (nil, true) }
            state.isStalled = true
            return (true, true)
        }
        if goesOn { scheduleSample() }
        if let change { Task { await onChange(change) } }
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
