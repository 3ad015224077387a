import AudioPlayback
import BackgrounderAPI
import Foundation
import TestSupport
import Testing

extension Playback {
    /// The output of `wav:` and `raw:` matches the reference decoders, sample for sample.
    @Suite(.serialized) struct RenderingTests {
        let media: Media

        init() throws { media = try Media() }

        /// Plays files into a WAV file and returns its samples.
        private func render(_ paths: [String], options: PlayerOptions = PlayerOptions()) async throws -> [Int16] {
            let output = media.path("out.wav")
            let fixture = PlayerFixture(driver: .wav(output), state: PlayerState(options: options))
            _ = try await fixture.player.append(paths)
            _ = try await fixture.player.play()
            try await fixture.wait("the end of the queue") { $0.timeControlStatus == .stopped }
            return try media.rendered(output)
        }

        @Test(arguments: [
            ["-b", "128"], ["-V", "4"], ["-t", "-b", "128"], ["-t", "-V", "4"], ["-m", "m", "-b", "64"],
            ["--nores", "-b", "320"],
        ])
        func `an MP3 is rendered as mpg123 decodes it`(options: [String]) async throws {
            let source = try await media.wav("source.wav", seconds: 7)
            let path = media.path("item.mp3")
            try await Tool.run(words: ["lame", "--quiet"] + options + [source, path])
            let expected = try await media.mpg123(path)
            let samples = try await render([path])
            #expect(expected.count > 44_100 * 6)
            #expect(samples == expected)
        }

        @Test(arguments: [
            ["-b", "16"], ["-b", "8"], ["-b", "24"], ["-b", "32"], ["-e", "a-law"], ["-e", "mu-law"],
            ["-e", "floating-point", "-b", "32"],
        ])
        func `a WAV is rendered as sox reads it`(options: [String]) async throws {
            let path = try await media.wav("item.wav", options: options)
            let expected = try await media.soxRounded(path)
            #expect(try await render([path]) == expected)
        }

        @Test func `a FLAC is played regardless of its file name`() async throws {
            let source = try await media.wav("source.wav")
            let flac = media.path("flac.mp3")
            try await Tool.run("sox", source, "-t", "flac", flac)
            #expect(try await render([flac]) == media.sox(source))
        }

        @Test func `items of one format are joined without extra or missing samples`() async throws {
            let paths = [
                try await media.mp3("a.mp3", seconds: 3, frequency: 300, "-V", "4"),
                try await media.wav("b.wav", seconds: 0.37, frequency: 500),
                try await media.mp3("c.mp3", seconds: 5, frequency: 700, "-t", "-V", "2"),
                try await media.wav("d.wav", seconds: 0.01, frequency: 900),
                try await media.wav("e.wav", seconds: 1, frequency: 1100),
            ]
            var expected: [Int16] = []
            for path in paths { expected += try await path.hasSuffix("mp3") ? media.mpg123(path) : media.sox(path) }
            #expect(try await render(paths) == expected)
        }

        @Test func `each change of format starts another file, and each file is complete`() async throws {
            let output = media.path("out.wav")
            let paths = [
                try await media.wav("a.wav", seconds: 1, rate: 44_100),
                try await media.wav("b.wav", seconds: 1, rate: 48_000),
                try await media.wav("c.wav", seconds: 1, rate: 48_000, frequency: 600),
                try await media.wav("d.wav", seconds: 1, rate: 48_000, channels: 1),
            ]
            let fixture = PlayerFixture(driver: .wav(output))
            _ = try await fixture.player.append(paths)
            _ = try await fixture.player.play()
            try await fixture.wait("the end of the queue") { $0.timeControlStatus == .stopped }
            #expect(try media.rendered(output) == (try await media.sox(paths[0])))
            #expect(
                try media.rendered(output + "-2") == (try await media.sox(paths[1])) + (try await media.sox(paths[2]))
            )
            #expect(try media.rendered(output + "-3") == (try await media.sox(paths[3])))
            #expect(!FileManager.default.fileExists(atPath: output + "-4"))
            #expect(fixture.currentItems == [1, 2, 3, 4, nil])
        }

        @Test func `the volume scales samples by the cube of its fraction`() async throws {
            let path = try await media.wav("item.wav")
            let samples = try await render([path], options: PlayerOptions(volume: 50))
            let expected = try await media.sox(path).map { Int16((Double($0) / 8).rounded(.toNearestOrAwayFromZero)) }
            #expect(samples.count == expected.count)
            #expect(zip(samples, expected).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
        }

        @Test func `the raw driver writes only samples`() async throws {
            let path = try await media.wav("item.wav")
            let output = media.path("out.raw")
            let fixture = PlayerFixture(driver: .raw(output))
            _ = try await fixture.player.play(paths: [path])
            try await fixture.wait("the end of the queue") { $0.timeControlStatus == .stopped }
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: output)))
            let expected = try await media.sox(path).flatMap { withUnsafeBytes(of: $0, Array.init) }
            #expect(bytes == expected)
        }
    }
}
