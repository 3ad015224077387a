import NIOCore

/// A channel handler that makes HTTP of the first line of a SHOUTcast 1 server: `ICY 200 OK`.
final class ICYStatusLine: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private static let mark = Array("ICY ".utf8)
    /// Fewer bytes than the mark, which wait for the next ones.
    private var first: ByteBuffer?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if var first {
            first.writeBuffer(&bytes)
            bytes = first
        }
        guard bytes.readableBytes >= Self.mark.count || !Self.mark.starts(with: bytes.readableBytesView) else {
            first = bytes
            return
        }
        if bytes.readableBytesView.starts(with: Self.mark) {
            bytes.moveReaderIndex(forwardBy: Self.mark.count)
            var line = context.channel.allocator.buffer(capacity: bytes.readableBytes + 9)
            line.writeString("HTTP/1.0 ")
            line.writeBuffer(&bytes)
            bytes = line
        }
        context.fireChannelRead(wrapInboundOut(bytes))
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
}
