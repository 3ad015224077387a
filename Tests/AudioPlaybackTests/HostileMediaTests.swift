import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import AudioPlayback
@testable import MediaFiles

extension Playback {
    /// Hundreds of bad files: none crashes or blocks the process, or affects the next item.
    @Suite(.serialized) struct HostileMediaTests {
        let media: Media

        init() throws { media = try Media() }

        /// How often each good file is damaged.
        private static let rounds =
            ProcessInfo.processInfo.environment["BACKGROUNDER_MUTATIONS"].flatMap { Int($0) } ?? 22

        private func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
            try media.scratch.write(bytes, to: name)
        }

        /// Makes a file of each kind of container and codec.
        private func goodFiles() async throws -> [String] {
            let source = try await media.wav("good.wav", seconds: 1.5)
            func path(_ name: String) -> String { media.path(name) }
            func sox(_ name: String, _ options: String...) async throws -> String {
                try await Tool.run(words: ["sox", "-D", source] + options + [path(name)])
                return path(name)
            }
            func lame(_ name: String, _ options: String...) async throws -> String {
                try await Tool.run(words: ["lame", "--quiet"] + options + [source, path(name)])
                return path(name)
            }
            try await Tool.run("oggenc", "-Q", "-o", path("good.ogg"), source)
            try await Tool.run("opusenc", "--quiet", source, path("good.opus"))
            return [
                source, path("good.ogg"), path("good.opus"),
                try await lame("cbr.mp3", "-b", "128", "--add-id3v2", "--tt", "A title"),
                try await lame("vbr.mp3", "-V", "4", "-t"), try await lame("free.mp3", "--freeformat", "-b", "400"),
                try await lame("low.mp3", "-b", "16", "-m", "m", "--resample", "16"),
                try await sox("24.wav", "-b", "24"), try await sox("adpcm.wav", "-e", "ima-adpcm"),
                try await sox("good.flac"), try await sox("good.aiff"), try await sox("good.au"),
                try await sox("good.caf"), try await sox("good.w64"),
            ]
        }

        /// Returns the resident bytes of this process.
        private func residentSize() throws -> Int {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return (Int(text.split(separator: " ")[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
        }

        /// Damage that no decoder can detect, such as a flipped bit of sound, need not be reported.
        @Test(.computing)
        func `randomly damaged files are decoded quickly, in little memory, and losses are reported`()
            async throws
        {
            var mutator = Mutator(seed: 5)
            let before = try residentSize()
            var count = 0
            for good in try await goodFiles() {
                let whole = try Decoding(good)
                // In the other formats, a loss is only detectable if the header is intact.
                let hasChecks = ["mp3", "ogg", "opus", "flac"].contains { good.hasSuffix($0) }
                let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: good)))
                for round in 0..<Self.rounds {
                    let path = try write("bad", mutator.mutate(bytes))
                    let began = secondsComputed()
                    // More samples than any of the files can hold, regardless of the length that its header states.
                    let limit = 1 << 24
                    let decoding = try? Decoding(path, atMost: limit)
                    #expect(decoding?.samples.count ?? 0 < limit, "\(good) \(round): \(mutator.deed)")
                    if let decoding, decoding.fault == nil, decoding.samples.count < whole.samples.count, hasChecks {
                        Issue.record("\(good) \(round): no report of \(mutator.deed)")
                    }
                    if let file = try? MediaFile(path: path) { _ = try? openSampleSource(file).metadata() }
                    _ = try? Decoding(path, from: 30_000, atMost: limit)
                    #expect(secondsComputed() - began < 3, "\(good) \(round): \(mutator.deed)")
                    let size = try residentSize()
                    #expect(size - before < 64 << 20, "\(good) \(round): \(mutator.deed)")
                    count += 1
                }
            }
            #expect(count >= 300)
        }

        @Test(.computing)
        func `files that the fuzzer found no longer crash or block the decoders`() throws {
            let folder = URL(fileURLWithPath: "\(#filePath)/../../FuzzTests/Found/decoders").standardizedFileURL.path
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(!names.isEmpty)
            for name in names {
                let began = secondsComputed()
                let path = "\(folder)/\(name)"
                if let file = try? MediaFile(path: path) { _ = try? openSampleSource(file).metadata() }
                for start in [0, 1, 5_000, 1 << 40] { _ = try? Decoding(path, from: start, atMost: 1 << 24) }
                #expect(secondsComputed() - began < 3, "\(name)")
            }
        }

        /// Makes files that no tool writes, each with whether some of it is played and a part of the expected message.
        private func curiosities() async throws -> [(path: String, isPlayed: Bool, words: String)] {
            let wave = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try await media.wav("good.wav", seconds: 1))))
            let mp3 = [UInt8](
                try Data(contentsOf: URL(fileURLWithPath: try await media.mp3("good.mp3", seconds: 1, "-b", "128")))
            )
            let bare = [UInt8](
                try Data(contentsOf: URL(fileURLWithPath: try await media.mp3("b.mp3", seconds: 1, "-t", "-b", "128")))
            )
            var random = SeededGenerator(seed: 9)
            let noise = (0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            /// Returns `bytes` with `number` in place of the bytes at `offset`.
            func lie(_ bytes: [UInt8], _ offset: Int, _ number: [UInt8]) -> [UInt8] {
                Array(bytes[..<offset]) + number + Array(bytes[(offset + number.count)...])
            }
            let info = try #require(mp3.firstRange(of: Array("Info".utf8))?.upperBound)
            let end = try #require(wave.firstRange(of: Array("data".utf8))?.upperBound)
            func sparse(_ name: String, _ head: [UInt8], size: Int) throws -> String {
                let path = try write(name, head)
                #expect(truncate(path, off_t(size)) == 0)
                return path
            }
            func riff(_ kind: String) -> [UInt8] { Array("\(kind)\u{0}\u{0}\u{0}\u{0}WAVE".utf8) }
            return [
                (try write("empty", []), false, "not a supported audio format"),
                (try write("text", Array("Not a word of music.\n".utf8)), false, "not a supported audio format"),
                (try write("noise", noise), false, "not a supported audio format"),
                (try write("zeros", [UInt8](repeating: 0, count: 300_000)), false, "not a supported audio format"),
                (try write("late", [UInt8](repeating: 0, count: 300_000) + bare), true, "300000 bytes were skipped"),
                (try sparse("5 GB", [], size: 5 << 30), false, "not a supported audio format"),
                (try sparse("5 GB RIFF", riff("RIFF"), size: 5 << 30), false, "No 'data' chunk"),
                (try sparse("5 GB FLAC", Array("fLaC".utf8), size: 5 << 30), false, "unimplemented"),
                (try sparse("5 GB Ogg", Array("OggS".utf8), size: 5 << 30), false, "unimplemented"),
                (
                    try sparse("5 GB AIFF", Array("FORM\u{0}\u{0}\u{0}\u{0}AIFF".utf8), size: 5 << 30), false,
                    "Channel count is zero"
                ),
                (
                    try sparse("5 GB CAF", Array("caff\u{0}\u{1}\u{0}\u{0}".utf8), size: 5 << 30), false,
                    "not a supported audio format"
                ),
                (try sparse("5 GB MP3", bare, size: 5 << 30), true, "valid MPEG data"),
                (
                    try sparse("5 GB tag", Array("ID3".utf8) + [3, 0, 0, 127, 127, 127, 127], size: 5 << 30), false,
                    "not a supported audio format"
                ),
                (
                    try write("tag", Array("ID3".utf8) + [3, 0, 0, 127, 127, 127, 127] + mp3), false,
                    "not a supported audio format"
                ),
                (try write("frames", lie(mp3, info + 4, [255, 255, 255, 255])), true, "ends early"),
                (try write("tail", bare + noise.prefix(5_000)), true, "bytes were skipped"),
                (try write("cut", bare.dropLast(100)), true, "100 bytes are missing"),
                (try write("rate", lie(wave, 24, [0, 0, 0, 0])), false, "incomplete"),
                (try write("fast", lie(wave, 24, [255, 255, 255, 127])), false, "at 2147483647 Hz"),
                (try write("channels", lie(wave, 22, [200, 0])), false, "200 channels"),
                (try write("no channels", lie(wave, 22, [0, 0])), false, "Channel count is zero"),
                (try write("size", lie(wave, end, [0, 0, 16, 0])), true, "44100 of 262144 frames"),
                (try write("header", Array(wave[..<(end + 4)])), false, "0 of 44100 frames"),
            ]
        }

        @Test func `odd files are quickly played or refused with a reason, and the next item stays whole`()
            async throws
        {
            let odd = try await curiosities()
            let good = media.path("good.wav")
            let before = try residentSize()
            for (path, isPlayed, words) in odd {
                let began = secondsComputed()
                var decoding: Decoding?
                var reason = ""
                do {
                    decoding = try Decoding(path, atMost: 1 << 24)
                    reason = decoding?.fault?.reason ?? ""
                } catch let error as DecodingFault { reason = error.reason }
                #expect((decoding?.samples.count ?? 0 > 0) == isPlayed, "\(path): \(reason)")
                #expect(reason.contains(words), "\(path): \(reason)")
                #expect(secondsComputed() - began < 3, "\(path)")
                #expect(try residentSize() - before < 64 << 20, "\(path)")
            }
            let output = media.path("out.wav")
            let fixture = PlayerFixture(driver: .wav(output))
            let refused = odd.filter { !$0.isPlayed }.map(\.path)
            // Most are refused immediately, with the reason; the others when their turn comes.
            var queued: [String] = []
            for path in refused {
                do {
                    _ = try await fixture.player.append([path])
                    queued.append(path)
                } catch let error as MediaError {
                    #expect(error.description.hasPrefix("\(path): "), "\(error)")
                }
                _ = try await fixture.player.append([good])
            }
            _ = try await fixture.player.play()
            let end = try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            let samples = try await media.sox(good)
            let expected = refused.flatMap { _ in samples }
            expectSame(try media.rendered(output)[...], expected[...], "the good ones")
            #expect(end.lastError?.path == queued.last)
            #expect(end.lastError?.reason.isEmpty == false)
        }
    }
}
