import NIOCore

/// A line from a client, without its newline.
enum MPDLine: Hashable, Sendable {
    case text(String)
    /// The line exceeds the limit; nothing after it is read.
    case tooLong
}

/// A decoder that splits the stream of bytes into lines.
struct MPDLineDecoder: ByteToMessageDecoder {
    typealias InboundOut = MPDLine

    /// The most bytes of a line, including its newline.
    let limit: Int
    private var isOver = false

    init(limit: Int) {
        self.limit = limit
    }

    mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        guard !isOver else {
            buffer.moveReaderIndex(forwardBy: buffer.readableBytes)
            return .needMoreData
        }
        let bytes = buffer.readableBytesView.prefix(limit)
        guard let newline = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            guard bytes.count == limit else { return .needMoreData }
            isOver = true
            context.fireChannelRead(Self.wrapInboundOut(.tooLong))
            return .continue
        }
        var line = buffer.readSlice(length: newline - bytes.startIndex) ?? ByteBuffer()
        buffer.moveReaderIndex(forwardBy: 1)
        if line.readableBytesView.last == UInt8(ascii: "\r") {
            line.moveWriterIndex(to: line.writerIndex - 1)
        }
        context.fireChannelRead(Self.wrapInboundOut(.text(String(buffer: line))))
        return .continue
    }

    /// Decodes the remaining whole lines at the end of the stream, and discards a line without a newline.
    mutating func decodeLast(
        context: ChannelHandlerContext,
        buffer: inout ByteBuffer,
        seenEOF: Bool
    ) throws -> DecodingState {
        while try decode(context: context, buffer: &buffer) == .continue {}
        buffer.moveReaderIndex(forwardBy: buffer.readableBytes)
        return .needMoreData
    }
}
