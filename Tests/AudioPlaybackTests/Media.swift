import Foundation
import TestSupport
import Testing

/// Sound files made with the usual tools, and their samples as these tools decode them.
struct Media {
    let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    func path(_ name: String) -> String { scratch.file(name) }

    /// Makes a WAV of rising and falling sines, so that no two parts are equal.
    func wav(
        _ name: String,
        seconds: Double = 2,
        rate: Int = 44_100,
        channels: Int = 2,
        frequency: Int = 440,
        options: [String] = []
    )
        async throws -> String
    {
        let path = path(name)
        try await Tool.run(
            words: ["sox", "-D", "-n", "-r", "\(rate)", "-c", "\(channels)"]
                + (options.isEmpty ? ["-b", "16"] : options) + [
                    path, "synth", "\(seconds)", "sine", "\(frequency)-\(frequency * 3)", "sine",
                    "\(frequency * 3 / 2)-\(frequency)", "gain", "-6",
                ]
        )
        return path
    }

    func mp3(_ name: String, seconds: Double = 2, rate: Int = 44_100, frequency: Int = 440, _ options: String...)
        async throws -> String
    {
        let source = try await wav(name + ".wav", seconds: seconds, rate: rate, frequency: frequency)
        try await Tool.run(words: ["lame", "--quiet"] + options + [source, path(name)])
        return path(name)
    }

    /// Returns the samples that mpg123 decodes.
    func mpg123(_ path: String) async throws -> [Int16] {
        samples(try await Tool.run("mpg123", "-q", "--resync-limit", "1048576", "-s", "-e", "s16", path))
    }

    /// Returns the samples that sox decodes.
    func sox(_ path: String) async throws -> [Int16] {
        samples(try await Tool.run("sox", "-D", path, "-t", "raw", "-e", "signed", "-b", "16", "-"))
    }

    /// Returns the samples that sox decodes to 32 bits, rounded to 16 bits, ties to even.
    func soxRounded(_ path: String) async throws -> [Int16] {
        let data = try await Tool.run("sox", "-D", path, "-t", "raw", "-e", "signed", "-b", "32", "-")
        return [UInt8](data).withUnsafeBytes { bytes in
            bytes.bindMemory(to: Int32.self).map { sample in
                // Round from 24 bits, like libsndfile's floats.
                Int16(clamping: Int((Float(sample) / 65_536).rounded(.toNearestOrEven)))
            }
        }
    }

    /// Returns the samples in the data chunk of a WAV file, and checks the sizes in its header.
    func rendered(_ path: String) throws -> [Int16] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let bytes = [UInt8](data)
        func number(_ offset: Int) -> Int { (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) } }
        try #require(bytes.count > 12)
        #expect(number(4) == bytes.count - 8, "the header states the whole file")
        var offset = 12
        while offset + 8 <= bytes.count, Array(bytes[offset..<offset + 4]) != Array("data".utf8) {
            offset += 8 + number(offset + 4)
        }
        try #require(offset + 8 <= bytes.count, "there is a data chunk")
        #expect(number(offset + 4) == bytes.count - offset - 8, "the header states all samples")
        return samples(data.dropFirst(offset + 8))
    }

    func samples(_ data: Data) -> [Int16] {
        [UInt8](data).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }
}

extension Media {
    /// Makes a stereo WAV at 44.1 kHz of one constant value, which is easy to find in the output.
    func level(_ name: String, _ value: Int16, frames: Int) throws -> String {
        try file(name, Array(repeating: value, count: frames * 2))
    }

    /// Writes 16-bit stereo samples at 44.1 kHz as a WAV file.
    func file(_ name: String, _ samples: [Int16]) throws -> String {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.littleEndian, Array.init) }
        let size = UInt32(samples.count * 2)
        var data: [UInt8] = Array("RIFF".utf8) + bytes(36 + size) + Array("WAVEfmt ".utf8) + bytes(UInt32(16))
        data += bytes(UInt16(1)) + bytes(UInt16(2)) + bytes(UInt32(44_100)) + bytes(UInt32(176_400))
        data += bytes(UInt16(4)) + bytes(UInt16(16)) + Array("data".utf8) + bytes(size)
        samples.withUnsafeBytes { data += $0 }
        try Data(data).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }
}
