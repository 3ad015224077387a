import Foundation
import Testing

@testable import Speech

/// WAV streams, whose headers do not know their lengths.
@Suite struct WaveFileTests {
    private let file = SpeechRig.noise(1044)

    /// Returns the file with `bytes` at `position`.
    private func changed(_ bytes: [UInt8], at position: Int) -> Data {
        var file = file
        file.replaceSubrange(position..<position + bytes.count, with: bytes)
        return file
    }

    @Test(arguments: [[0, 0xF0, 0xFF, 0x7F], [0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]])
    func `the lengths of a stream are corrected`(length: [UInt8]) {
        #expect(WaveFile.file(of: changed(length, at: 40)) == file)
    }

    @Test func `other chunks are left out`() {
        let chunk = Data("LIST".utf8) + [3, 0, 0, 0, 1, 2, 3, 0]
        #expect(WaveFile.file(of: file[..<12] + chunk + file[12..<36] + chunk + file[36...] + chunk) == file)
    }

    @Test func `half a sample at the end is left out`() {
        #expect(WaveFile.file(of: changed([0xFF, 0xFF, 0xFF, 0xFF], at: 40) + [1]) == file)
    }

    @Test(
        arguments: [
            ([0], 0), ([0], 8), ([0], 12), ([3], 20), ([0], 22), ([0, 0], 24), ([0], 32), ([12], 34), ([0, 0], 40),
        ] as [([UInt8], Int)]
    )
    func `an invalid header is refused`(bytes: [UInt8], position: Int) {
        #expect(WaveFile.file(of: changed(bytes, at: position)) == nil)
    }

    @Test func `damaged streams never yield an invalid file`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<5000 {
            var stream = file.prefix(Int.random(in: 0...200, using: &generator))
            for _ in 0..<Int.random(in: 0...4, using: &generator) where !stream.isEmpty {
                stream[Int.random(in: 0..<min(stream.count, 48), using: &generator)] = .random(in: 0...255)
            }
            guard let result = WaveFile.file(of: stream) else { continue }
            #expect(WaveFile.isHeader(Array(result.prefix(44)), ofFileWith: result.count))
        }
    }
}
