import FoundationEssentials

/// WAV files with uncompressed samples: a header of 44 bytes and the samples.
enum WaveFile {
    /// The number of bytes of the header.
    static let headerSize = 44

    /// Returns the samples of a WAV stream as a file with correct lengths; `nil` if it is not such a stream or has no
    /// samples.
    ///
    /// A program that writes to a pipe does not know the lengths when it writes the header.
    static func file(of stream: Data) -> Data? {
        let bytes = [UInt8](stream)
        guard bytes.count > 12, bytes.has("RIFF", at: 0), bytes.has("WAVE", at: 8) else { return nil }
        var (position, format) = (12, [UInt8]())
        while position + 8 <= bytes.count {
            let start = position + 8
            let length = Int(bytes.number(at: position + 4))
            let end = min(bytes.count, start + length)
            if bytes.has("data", at: position) {
                guard isUncompressed(format) else { return nil }
                let frame = Int(format[12]) | Int(format[13]) << 8
                let count = (end - start) / frame * frame
                guard count > 0 else { return nil }
                return Data(header(format, samples: count) + bytes[start..<start + count])
            }
            if bytes.has("fmt ", at: position), end - start >= 16 { format = Array(bytes[start..<start + 16]) }
            // Chunks begin at even positions.
            position = start + length + length % 2
        }
        return nil
    }

    /// Returns whether `header` is that of a file of `size` bytes which ``file(of:)`` made.
    static func isHeader(_ header: [UInt8], ofFileWith size: Int) -> Bool {
        header.count == headerSize && size > headerSize && header.has("RIFF", at: 0) && header.has("WAVE", at: 8)
            && header.has("fmt ", at: 12) && header.has("data", at: 36)
            && Int(header.number(at: 4)) == size - 8 && Int(header.number(at: 40)) == size - headerSize
    }

    /// Whether the 16 bytes are a valid `fmt ` chunk for PCM (format 1).
    private static func isUncompressed(_ format: [UInt8]) -> Bool {
        guard format.count == 16 else { return false }
        let number = { (index: Int) in Int(format[index]) | Int(format[index + 1]) << 8 }
        let (channels, frame, bits) = (number(2), number(12), number(14))
        return number(0) == 1 && channels > 0 && format.number(at: 4) > 0 && [8, 16, 24, 32].contains(bits)
            && frame == channels * bits / 8
    }

    private static func header(_ format: [UInt8], samples: Int) -> [UInt8] {
        let little = { (value: Int) in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        return Array("RIFF".utf8) + little(headerSize - 8 + samples) + Array("WAVEfmt ".utf8) + little(16) + format
            + Array("data".utf8) + little(samples)
    }
}

extension [UInt8] {
    fileprivate func has(_ text: StaticString, at position: Int) -> Bool {
        count >= position + 4 && text.withUTF8Buffer { self[position..<position + 4].elementsEqual($0) }
    }

    /// The little-endian number of four bytes.
    fileprivate func number(at position: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(self[position + $1]) << (8 * UInt32($1)) }
    }
}
