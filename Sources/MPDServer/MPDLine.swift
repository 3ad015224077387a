import NIOCore

/// What a client sent, up to a newline.
enum MPDLine: Hashable, Sendable {
    case text(String)
    /// More than the buffer holds, without a newline: nothing is read after it.
    case tooLong
}

/// Takes the stream of bytes apart; a half line waits for its rest.
struct MPDLineDecoder: ByteToMessageDecoder {
    typealias InboundOut = MPDLine

    /// Bytes of a line, its newline counted.
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

    /// A line without its newline is none.
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
