import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import AudioPlayback
@testable import MediaFiles

extension Playback {
    /// Files of every supported kind, each compared with its reference decoder.
    @Suite(.serialized) struct FormatMatrixTests {
        let media: Media

        init() throws { media = try Media() }

        private struct Item: Sendable {
            let kind: MediaKind
            let path: String
            let reference: [Int16]
        }

        @Test func `every kind of file in one queue matches its reference decoder, even after a seek`() async throws {
            let items = try await make(MediaKind.all)
            let output = media.path("out.wav")
            let fixture = PlayerFixture(driver: .wav(output))
            _ = try await fixture.player.append(items.map(\.path))
            _ = try await fixture.player.play()
            let end = try await fixture.wait("the end of the queue") { $0.timeControlStatus == .stopped }
            #expect(end.lastError == nil, "\(end.lastError?.path ?? "-"): \(end.lastError?.reason ?? "-")")
            try await fixture.shutDown()

            // Successive items of one format share an output file, without gaps.
            var number = 0
            var rendered: ArraySlice<Int16> = []
            var format: AudioFormat?
            for item in items {
                let whole = try Decoding(item.path)
                if whole.format != format {
                    #expect(rendered.isEmpty, "before \(item.kind)")
                    number += 1
                    rendered = try media.rendered(number == 1 ? output : "\(output)-\(number)")[...]
                    format = whole.format
                }
                expectSame(
                    rendered.prefix(item.reference.count),
                    item.reference[...],
                    tolerance: item.kind.tolerance,
                    "\(item.kind)"
                )
                #expect(whole.fault == nil, "\(item.kind)")
                #expect(whole.changes == 0, "\(item.kind)")
                // Even where the reference is not exact, the source and the player agree exactly.
                expectSame(rendered.prefix(whole.samples.count), whole.samples[...], "\(item.kind) in the queue")
                rendered = rendered.dropFirst(whole.samples.count)
                try expectSeeks(in: item, whole)
            }
            #expect(rendered.isEmpty)
        }

        @Test func `concatenated MP3s are played like each of them, without silence in between`() async throws {
            let paths = [
                try await media.mp3("a.mp3", frequency: 300, "-V", "4", "--id3v1-only", "--tt", "One"),
                try await media.mp3("b.mp3", frequency: 500, "-b", "128", "--id3v2-only", "--tt", "Two"),
                try await media.mp3("c.mp3", rate: 48_000, frequency: 700, "-V", "2"),
            ]
            let glued = media.path("glued.mp3")
            let bytes = try paths.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
            try bytes.reduce(Data(), +).write(to: URL(fileURLWithPath: glued))
            let output = media.path("out.wav")
            let fixture = PlayerFixture(driver: .wav(output))
            _ = try await fixture.player.play(paths: [glued])
            let end = try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            #expect(end.lastError == nil, "\(end.lastError?.reason ?? "-")")
            let first = try await media.mpg123(paths[0]) + (try await media.mpg123(paths[1]))
            let second = try await media.mpg123(paths[2])
            expectSame(try media.rendered(output)[...], first[...], "of 44.1 kHz")
            expectSame(try media.rendered(output + "-2")[...], second[...], "of 48 kHz")
            for frame in [1_000, 100_000, 88_200 * 2 + 20_000] {
                let rest = try Decoding(glued, from: frame).samples
                let rate48 = (frame - 88_200 * 2) * 48_000 / 44_100
                let expected = rate48 < 0 ? first[(frame * 2)...] + second : second[(rate48 * 2)...]
                expectSame(rest[...], expected, tolerance: 1, "from \(frame)")
            }
            #expect(try openSampleSource(MediaFile(path: glued)).metadata().frames == 88_200 * 3)
            #expect(try FileDescription(MediaFile(path: glued)).duration == 6)
        }

        /// Checks that a seek gives the same samples as decoding up to that frame.
        private func expectSeeks(in item: Item, _ whole: Decoding) throws {
            let channels = whole.format.channels
            for part in [1, whole.frames / 7, whole.frames / 3, whole.frames / 2, whole.frames - 700, whole.frames - 1]
            {
                // Some seeks use a new source, others one that has decoded other frames.
                let tail = try Decoding(item.path, from: part, readsFirst: part % 2 == 0)
                expectSame(
                    tail.samples[...],
                    whole.samples[(part * channels)...],
                    tolerance: item.kind.seekTolerance,
                    "\(item.kind) from \(part) of \(whole.frames)"
                )
                #expect(tail.fault == nil, "\(item.kind) from \(part)")
            }
            #expect(try Decoding(item.path, from: whole.frames).samples.isEmpty, "\(item.kind) from its end")
        }

        /// Makes the files and their references, four at a time.
        private func make(_ kinds: [MediaKind]) async throws -> [Item] {
            let sources = Dictionary(grouping: kinds) { "\($0.rate)-\($0.channels)" }.mapValues { $0[0] }
            for (name, kind) in sources {
                _ = try await media.wav("source-\(name).wav", seconds: 1.3, rate: kind.rate, channels: kind.channels)
            }
            return try await withThrowingTaskGroup(of: (Int, Item).self) { group in
                var items: [Item?] = Array(repeating: nil, count: kinds.count)
                for (index, kind) in kinds.enumerated() {
                    if index >= 4, let (index, item) = try await group.next() { items[index] = item }
                    group.addTask { (index, try await make(kind)) }
                }
                for try await (index, item) in group { items[index] = item }
                return items.compactMap(\.self)
            }
        }

        private func make(_ kind: MediaKind) async throws -> Item {
            let source = media.path("source-\(kind.rate)-\(kind.channels).wav")
            let path = media.path("item-\(kind.name)")
            switch kind.maker {
            case .lame(let options): try await Tool.run(words: ["lame", "--quiet"] + options + [source, path])
            case .sox(let options): try await Tool.run(words: ["sox", "-D", source] + options + [path])
            case .program(let words):
                try await Tool.run(words: words.map { $0 == "SOURCE" ? source : $0 == "FILE" ? path : $0 })
            }
            let made = try Data(contentsOf: URL(fileURLWithPath: path))
            let edited = try kind.edit(made)
            if edited != made { try edited.write(to: URL(fileURLWithPath: path)) }
            let reference =
                switch kind.reference {
                case .mpg123: try await media.mpg123(path)
                case .sox: try await media.sox(path)
                case .soxRounded: try await media.soxRounded(path)
                case .program(let words):
                    media.samples(try await Tool.run(words: words.map { $0 == "FILE" ? path : $0 }))
                }
            try #require(reference.count > kind.rate, "\(kind): the reference is too short")
            return Item(kind: kind, path: path, reference: reference)
        }
    }
}
