import CZlib

/// Compresses to gzip (RFC 1952).
package enum Gzip {
    /// Returns `bytes` as a gzip stream; `nil` if there is not enough memory. It takes milliseconds for 100 kB, so do not use it on an
    /// event loop for more.
    package static func compress(_ bytes: some Collection<UInt8>) -> [UInt8]? {
        var stream = z_stream()
        guard czlib_deflate_init(&stream) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var input = Array(bytes)
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(input.count))))
        let isWhole = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
                return deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
        }
        return isWhole ? Array(output.prefix(Int(stream.total_out))) : nil
    }
}
