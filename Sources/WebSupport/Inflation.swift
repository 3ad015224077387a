import CZlib
import FoundationEssentials

/// A decompressor for gzip and deflate, with a limit for the output: a small reply can expand a thousandfold.
///
/// Owned by one task. It takes milliseconds for a large reply, so do not use it on an event loop.
package struct Inflation: ~Copyable {
    /// The output so far.
    package private(set) var bytes: [UInt8] = []
    private let limit: Int
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether the input ended with a complete stream; another one may follow (RFC 1952, 2.2).
    package private(set) var isWhole = false

    /// Creates a decompressor for at most `limit` bytes of output; `nil` if there is not enough memory.
    package init?(limit: Int) {
        self.limit = limit
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard czlib_inflate_init(stream) == Z_OK else {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Why input cannot be decompressed.
    package enum Fault: Error {
        case tooLarge
        case damaged
    }

    /// Decompresses the next piece of input.
    ///
    /// - Throws: ``Fault`` if the output exceeds the limit or the input is damaged.
    package mutating func decompress(_ packed: [UInt8]) throws(Fault) {
        var packed = packed
        var output = [UInt8](repeating: 0, count: 1 << 16)
        var offset = 0
        while offset < packed.count {
            if isWhole {
                // Zeros after the end are padding.
                guard packed[offset] != 0 else {
                    offset += 1
                    continue
                }
                inflateReset(stream)
                isWhole = false
            }
            let (status, consumed, produced) = step(&packed, offset, &output)
            offset += consumed
            guard bytes.count + produced <= limit else { throw .tooLarge }
            bytes += output[..<produced]
            switch status {
            case Z_STREAM_END: isWhole = true
            // Without progress, zlib needs more input.
            case Z_OK, Z_BUF_ERROR: if consumed == 0, produced == 0 { return }
            default: throw .damaged
            }
        }
    }

    /// Calls `inflate` once, and returns how many bytes it consumed and produced.
    private func step(
        _ input: inout [UInt8],
        _ offset: Int,
        _ output: inout [UInt8]
    ) -> (status: CInt, consumed: Int, produced: Int) {
        let (offered, room) = (input.count - offset, output.count)
        return input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.pointee.next_in = input.baseAddress.map { $0 + offset }
                stream.pointee.avail_in = UInt32(offered)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(room)
                let status = inflate(stream, Z_NO_FLUSH)
                return (status, offered - Int(stream.pointee.avail_in), room - Int(stream.pointee.avail_out))
            }
        }
    }
}
