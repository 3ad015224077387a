import CZlib
import FoundationEssentials

/// Unpacks what a server packed with gzip or deflate, as it comes and never beyond a limit: a kilobyte may be a gigabyte.
///
/// Owned by one task; not for content that can wait for nobody to be waited for, as unpacking takes milliseconds.
struct Inflation: ~Copyable {
    /// What came unpacked.
    private(set) var bytes: [UInt8] = []
    private let limit: Int
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether a whole packed stream has come; another one may follow it (RFC 1952, 2.2).
    private(set) var isWhole = false

    init?(limit: Int) {
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

    enum Fault: Error {
        case tooLarge
        case damaged
    }

    mutating func take(_ packed: [UInt8]) throws(Fault) {
        var packed = packed
        var output = [UInt8](repeating: 0, count: 1 << 16)
        var offset = 0
        while offset < packed.count {
            if isWhole {
                // Zeros behind the end are padding.
                guard packed[offset] != 0 else {
                    offset += 1
                    continue
                }
                inflateReset(stream)
                isWhole = false
            }
            let (status, taken, given) = step(&packed, offset, &output)
            offset += taken
            guard bytes.count + given <= limit else { throw .tooLarge }
            bytes += output[..<given]
            switch status {
            case Z_STREAM_END: isWhole = true
            // Nothing went in and nothing came out: it wants more than there is.
            case Z_OK, Z_BUF_ERROR: if taken == 0, given == 0 { return }
            default: throw .damaged
            }
        }
    }

    private func step(
        _ input: inout [UInt8],
        _ offset: Int,
        _ output: inout [UInt8]
    ) -> (status: CInt, taken: Int, given: Int) {
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
