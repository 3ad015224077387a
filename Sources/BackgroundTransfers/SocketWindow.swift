import NIOCore

/// The receive window of a connection: how many bytes may be in flight, which must be sent again if the connection
/// breaks.
///
/// The kernel accepts up to twice the size that is set. A sender cuts its segments for the widest window that it was
/// ever offered, and waits 0.2 s if they do not fit into the current one. So a window that should be narrow must be
/// narrow from the first segment, and its buffer is set before the connection is made.
enum SocketWindow {
    /// Bytes from which the kernel sizes the buffer itself. Tuned: its automatic sizing works well for large windows.
    private static let wide = 512 << 10
    /// `SO_BUF_LOCK`. The value 0 lets the kernel size the buffer.
    private static let lock = ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: 72))

    /// Returns the initial size, at which a broken connection wastes at most 32 KiB, including the data that this
    /// process holds. With TLS that is a record of 16 KiB, which must be complete before it can be read.
    static func narrow(isSecure: Bool) -> Int { isSecure ? 6 << 10 : 12 << 10 }

    /// Returns a 128th of `bytes`, at most 64 MiB; `nil` if that is not more than the initial size.
    static func size(for bytes: Int64) -> Int? {
        let size = Int(min(bytes >> 7, 64 << 20))
        return size > narrow(isSecure: false) ? size : nil
    }

    /// Sets the receive buffer of a channel before it is connected.
    static func prepare(_ size: Int, for channel: any Channel) -> EventLoopFuture<Void> {
        guard size < wide else { return channel.eventLoop.makeSucceededVoidFuture() }
        // With a buffer that is locked during the connect, the window could never become wide (RFC 7323, 2.2). Before
        // Linux 5.14 the lock cannot be removed. The connection then starts as wide as any other, and transfers from
        // the same machine pause now and then.
        return channel.setOption(lock, value: 0)
            .flatMap { channel.setOption(.socketOption(.so_rcvbuf), value: SocketOptionValue(size)) }
            .flatMap { channel.setOption(lock, value: 0) }
            .flatMapError { _ in channel.eventLoop.makeSucceededVoidFuture() }
    }

    /// Sets the window and the read size of a connected channel.
    static func set(_ size: Int, of channel: any Channel) -> EventLoopFuture<Void> {
        let isWide = size >= wide
        let read = isWide ? 64 << 10 : size / 4
        return channel.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: read))
            .flatMap { channel.setOption(.maxMessagesPerRead, value: isWide ? 4 as UInt : 1 as UInt) }
            .flatMap { channel.setOption(.socketOption(.so_rcvbuf), value: SocketOptionValue(size)) }
            .flatMap {
                // The kernel sizes the buffer itself from now on; before Linux 5.14 it stays as set.
                isWide ? channel.setOption(lock, value: 0) : channel.eventLoop.makeSucceededVoidFuture()
            }
            .flatMapError { _ in channel.eventLoop.makeSucceededVoidFuture() }
    }
}
