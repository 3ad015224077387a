import TestSupport
import Testing

@testable import AudioPlayback

/// The blocks of metadata in a live stream.
@Suite struct IcyMetadataTests {
    private func block(_ text: String) -> [UInt8] {
        let units = (text.utf8.count + 15) / 16
        return [UInt8(units)] + Array(text.utf8) + [UInt8](repeating: 0, count: units * 16 - text.utf8.count)
    }

    /// Splits a stream in parts of `step` bytes. Returns its sound, and each title with the bytes of sound before it.
    private func split(_ bytes: [UInt8], interval: Int, step: Int) -> (sound: [UInt8], titles: [String]) {
        var metadata = IcyMetadata(interval: interval)
        var (sound, titles): ([UInt8], [String]) = ([], [])
        for start in stride(from: 0, to: bytes.count, by: step) {
            for piece in metadata.split(Array(bytes[start..<min(start + step, bytes.count)])) {
                switch piece {
                case .sound(let part): sound += part
                case .title(let title): titles.append("\(sound.count) \(title)")
                }
            }
        }
        return (sound, titles)
    }

    @Test(arguments: [1, 2, 3, 16, 17, 100, 10_000])
    func `sound and titles are separated, however they arrive`(step: Int) {
        let sound = (0..<100).map { UInt8($0) }
        var stream: [UInt8] = []
        for start in stride(from: 0, to: 100, by: 10) {
            stream += sound[start..<start + 10]
            stream +=
                start == 20 ? block("StreamTitle='One';StreamUrl='';") : start == 50 ? block("StreamTitle='';") : [0]
        }
        let (found, titles) = split(stream, interval: 10, step: step)
        #expect(found == sound)
        #expect(titles == ["30 One", "60 "])
    }

    @Test(
        arguments: [
            ("StreamTitle='a';", "a"), ("StreamTitle='It's';x", "It's"), ("StreamUrl='u';StreamTitle='b", "b"),
            ("StreamTitle='c'", "c"), ("nothing", nil), ("", nil),
        ] as [(String, String?)]
    )
    func `a title may contain quotes, and a block may be cut`(block: String, title: String?) {
        #expect(IcyMetadata.title(in: Array(block.utf8)) == title)
    }

    @Test func `a title that is not UTF-8 is read as Latin-1`() {
        #expect(IcyMetadata.title(in: Array("StreamTitle='L".utf8) + [0xF6] + Array("we';".utf8)) == "Löwe")
    }

    @Test func `any bytes are split without more memory than a block`() {
        var random = SeededGenerator(seed: 1)
        for interval in [1, 7, 4_096, .max] {
            var metadata = IcyMetadata(interval: interval)
            for _ in 0..<200 {
                let bytes = (0..<500).map { _ in UInt8.random(in: 0...255, using: &random) }
                let sound = metadata.split(bytes).reduce(0) {
                    if case .sound(let part) = $1 { $0 + part.count } else { $0 }
                }
                #expect(sound <= bytes.count)
            }
        }
    }
}
