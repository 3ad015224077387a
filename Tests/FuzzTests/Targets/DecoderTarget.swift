@testable import MediaFiles

/// Opens an audio file, reads its tags, decodes from two places, and checks the amount of sound.
enum DecoderTarget {
    static func run(_ bytes: [UInt8]) {
        let path = MemoryFile.write(bytes)
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 1 << 14)
        defer { buffer.deallocate() }
        do {
            let file = try MediaFile(path: path)
            _ = try openSampleSource(file).metadata()
            for start in [0, 5_000] {
                let source = try openSampleSource(file)
                if start > 0 { try source.seek(toFrame: start) }
                var frames = 0
                reading: while true {
                    switch try source.read(into: buffer) {
                    case .frames(let count): frames += count
                    case .changed: break
                    case .end: break reading
                    }
                    // The densest codecs yield a few thousand frames per byte.
                    precondition(
                        frames < 1 << 20 || frames / 10_000 < bytes.count,
                        "\(frames) frames of \(bytes.count) bytes"
                    )
                }
                _ = source.fault?.reason
            }
        } catch {}
    }

    /// Writes the correct checksum into each Ogg page of `input`.
    static func correctSums(_ input: UnsafeMutableRawBufferPointer) {
        var offset = 0
        while offset + 27 <= input.count, input[offset...].starts(with: "OggS".utf8) {
            let segments = Int(input[offset + 26])
            guard offset + 27 + segments <= input.count else { break }
            let size = input[offset + 27..<offset + 27 + segments].reduce(27 + segments) { $0 + Int($1) }
            guard offset + size <= input.count else { break }
            let page = UnsafeMutableRawBufferPointer(rebasing: input[offset..<offset + size])
            let sum = oggSum(of: UnsafeRawBufferPointer(page))
            for index in 0..<4 { page[22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
            offset += size
        }
    }
}
