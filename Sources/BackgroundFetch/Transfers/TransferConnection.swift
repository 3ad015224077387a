import AsyncHTTPClient
import Dispatch
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// The connections of one attempt. They are narrow at first: what is on its way here when this process is killed, or the connection
/// breaks, must come again.
final class TransferConnection: Sendable {
    /// judgement: the kernel keeps half as much again; with what was just read it is the 32 KiB that a broken connection may cost.
    private static let narrow = 16 << 10
    /// judgement: beyond it the kernel knows best
    private static let wide = 512 << 10

    private let http: HTTPClient
    private let channel: Channels

    private final class Channels: Sendable {
        let newest = Mutex<(any Channel)?>(nil)
    }

    /// - Parameter expected: bytes that may come at the first attempt; 0 at later ones, which ``widen(for:)`` as they get on.
    init(group: any EventLoopGroup, connectTime: Duration, expected: Int64) {
        let channels = Channels()
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(connectTime)),
            decompression: .disabled
        )
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.httpVersion = .http1Only
        // A server may close a connection just when it is used again, for the next redirect: an attempt that nobody is to blame for.
        configuration.maximumUsesPerConnection = 1
        let size = Self.size(for: expected)
        configuration.http1_1ConnectionDebugInitializer = { channel in
            channels.newest.withLock { $0 = channel }
            return Self.set(channel, size)
        }
        http = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
        channel = channels
    }

    func execute(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        try await http.execute(request, deadline: .distantFuture)
    }

    /// Lets a 128th of `bytes` be on its way: of those that are to come at the first attempt, and of those that this connection brought.
    /// So all the connections of a transfer, however many break, cost less than a 64th of it beside their narrow beginnings.
    func widen(for bytes: Int64) {
        let size = Self.size(for: bytes)
        guard size > Self.narrow, let channel = channel.newest.withLock({ $0 }) else { return }
        _ = Self.set(channel, size)
    }

    /// Closes all of them at once.
    func end() async {
        await withCheckedContinuation { continuation in
            // Without a queue of ours it answers on libdispatch's pool, which from then on wakes up every second.
            http.shutdown(queue: Self.queue) { _ in continuation.resume() }
        }
    }

    private static let queue = DispatchQueue(label: "backgrounder.transfers")

    private static func size(for bytes: Int64) -> Int {
        max(narrow, Int(min(bytes >> 7, 64 << 20)))
    }

    private static func set(_ channel: any Channel, _ size: Int) -> EventLoopFuture<Void> {
        channel.getOption(.tcpOption(.init(rawValue: TCP_MAXSEG)))
            .flatMap { segment in
                // Where few segments fit, a sender holds back what is left of one, 0.2 s each time. On one machine, where they
                // have 32 KiB, it is the narrowest that takes a second one, or wide enough.
                set(channel, size: size < 4 * Int(segment) ? max(narrow, Int(segment) * 3 / 4) : size)
            }
            // What is no socket of the kernel's has no such options.
            .flatMapError { _ in channel.eventLoop.makeSucceededVoidFuture() }
    }

    private static func set(_ channel: any Channel, size: Int) -> EventLoopFuture<Void> {
        let isNarrow = size < wide
        // Two of them are on their way through this process.
        let read = isNarrow ? size / 4 : 64 << 10
        return channel.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: read))
            .flatMap { channel.setOption(.maxMessagesPerRead, value: isNarrow ? 1 as UInt : 4 as UInt) }
            .flatMap { channel.setOption(.socketOption(.so_rcvbuf), value: SocketOptionValue(size)) }
            .flatMap {
                // SO_BUF_LOCK: from here on the kernel sizes the buffer itself; before Linux 5.14 it stays as it was set.
                guard !isNarrow else { return channel.eventLoop.makeSucceededVoidFuture() }
                let option = ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: 72))
                return channel.setOption(option, value: 0).flatMapError { _ in
                    channel.eventLoop.makeSucceededVoidFuture()
                }
            }
    }
}
