import NIOCore

/// How many bytes may be on their way on a connection: those that come again when it breaks.
///
/// The kernel takes up to twice the size that it is given. A sender cuts its segments for the widest window that it was ever
/// shown, and waits 0.2 s where they do not fit into the window of the moment; so a window that is to be narrow must be narrow in
/// the first word of a connection, and its buffer is set before it is made.
enum SocketWindow {
    /// judgement: beyond it the kernel knows best
    private static let wide = 512 << 10
    /// `SO_BUF_LOCK`; 0 lets the kernel size the buffer.
    private static let lock = ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: 72))

    /// Of a connection that may cost 32 KiB, with the piece that this process holds; with TLS that is a record of 16 KiB, which
    /// has to be whole before it can be read.
    static func narrow(isSecure: Bool) -> Int { isSecure ? 6 << 10 : 12 << 10 }

    /// A 128th of `bytes`, where it is more than a narrow one.
    static func size(for bytes: Int64) -> Int? {
        let size = Int(min(bytes >> 7, 64 << 20))
        return size > narrow(isSecure: false) ? size : nil
    }

    /// What a channel needs before it is connected.
    static func prepare(_ size: Int, for channel: any Channel) -> EventLoopFuture<Void> {
        guard size < wide else { return channel.eventLoop.makeSucceededVoidFuture() }
        // A buffer that is locked when the connection is made can never become wide (RFC 7323, 2.2). Before Linux 5.14 it cannot be
        // unlocked; then the connection begins as wide as others, and what comes from the same machine waits now and then.
        return channel.setOption(lock, value: 0)
            .flatMap { channel.setOption(.socketOption(.so_rcvbuf), value: SocketOptionValue(size)) }
            .flatMap { channel.setOption(lock, value: 0) }
            .flatMapError { _ in channel.eventLoop.makeSucceededVoidFuture() }
    }

    /// Sets the window of a channel that is connected.
    static func set(_ size: Int, of channel: any Channel) -> EventLoopFuture<Void> {
        let isWide = size >= wide
        let read = isWide ? 64 << 10 : size / 4
        return channel.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: read))
            .flatMap { channel.setOption(.maxMessagesPerRead, value: isWide ? 4 as UInt : 1 as UInt) }
            .flatMap { channel.setOption(.socketOption(.so_rcvbuf), value: SocketOptionValue(size)) }
            .flatMap {
                // From here on the kernel sizes the buffer itself; before Linux 5.14 it stays as it was set.
                isWide ? channel.setOption(lock, value: 0) : channel.eventLoop.makeSucceededVoidFuture()
            }
            .flatMapError { _ in channel.eventLoop.makeSucceededVoidFuture() }
    }
}
