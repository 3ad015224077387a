import AudioPlayback
import BackgrounderAPI
import Foundation
import MediaFiles
import TestSupport
import Testing

extension Playback {
    /// The setting `audio.format`: all items are rendered in one format, into one file.
    @Suite(.serialized) struct FormatTests {
        let media: Media

        init() throws { media = try Media() }

        private func render(_ paths: [String], to format: String) async throws -> [Int16] {
            let output = media.path("out.wav")
            let fixture = PlayerFixture(driver: .wav(output), format: AudioFormat(format))
            _ = try await fixture.player.append(paths)
            _ = try await fixture.player.play()
            try await fixture.wait("the end of the queue") { $0.timeControlStatus == .stopped }
            #expect(fixture.currentItems.count == paths.count + 1)
            #expect(!FileManager.default.fileExists(atPath: output + "-2"), "the device was never opened again")
            return try media.rendered(output)
        }

        /// Makes a continuous sine and cuts it into files.
        private func sine(_ name: String, rate: Int, channels: Int = 2, cuts: [Double]) async throws -> [String] {
            let whole = media.path(name + ".wav")
            try await Tool.run(
                words: ["sox", "-D", "-n", "-r", "\(rate)", "-c", "\(channels)", "-b", "16", whole]
                    + ["synth", "\(cuts.reduce(0, +))", "sine", "440", "gain", "-6"]
            )
            var paths: [String] = []
            var start = 0
            for seconds in cuts {
                let frames = Int(seconds * Double(rate))
                paths.append(media.path("\(name)-\(paths.count).wav"))
                try await Tool.run("sox", "-D", whole, paths[paths.count - 1], "trim", "\(start)s", "\(frames)s")
                start += frames
            }
            return paths
        }

        @Test func `a queue of three formats is rendered into one file of their total length`() async throws {
            let paths = [
                try await media.wav("a.wav", seconds: 1.5, rate: 44_100),
                try await media.wav("b.wav", seconds: 1.3, rate: 48_000, channels: 1),
                try await media.wav("c.wav", seconds: 0.7, rate: 22_050),
                try await media.wav("d.wav", seconds: 0.005, rate: 44_100),
                try await media.wav("e.wav", seconds: 0.5, rate: 48_000),
            ]
            let samples = try await render(paths, to: "48000:16:2")
            let expected = [1.5, 1.3, 0.7, 0.005, 0.5].reduce(0, +) * 48_000
            #expect(abs(samples.count / 2 - Int(expected)) <= 3, "\(samples.count / 2), not \(expected)")
            // Mono is on both channels, and samples that already have the format are unchanged.
            let mono = samples[2 * 72_000..<2 * 134_400]
            let single = try await media.sox(paths[1])
            #expect(mono.enumerated().allSatisfy { $1 == single[$0 / 2] })
            #expect(Array(samples.suffix(48_000)) == (try await media.sox(paths[4])))
        }

        @Test func `resampled sound matches that of sox`() async throws {
            let path = try await media.wav("item.wav", seconds: 2)
            let samples = try await render([path], to: "48000:16:2")
            let converted = media.path("sox.wav")
            try await Tool.run("sox", "-D", path, "-r", "48000", "-b", "16", converted, "rate", "-h")
            let expected = try await media.sox(converted)
            #expect(samples.count == expected.count)
            // sox's filter differs at the edges of the band and where the sound begins and ends.
            let inner = 2 * 2_400..<samples.count - 2 * 2_400
            #expect(zip(samples[inner], expected[inner]).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
        }

        @Test(arguments: [(44_100, 2), (22_050, 1), (96_000, 2)])
        func `a sine that continues in the next item has no click at the join`(rate: Int, channels: Int) async throws {
            let cuts = [0.7013, 0.5, 0.3001, 1]
            let paths = try await sine("sine", rate: rate, channels: channels, cuts: cuts)
            let samples = try await render(paths, to: "48000:16:2")
            let frames = cuts.map { Int($0 * Double(rate)) }.reduce(0, +)
            #expect(abs(samples.count / 2 - frames * 48_000 / rate) <= 1)
            let left = stride(from: 0, to: samples.count, by: 2).map { Int(samples[$0]) }
            // The second difference of a sine is the sine times a constant, so a remainder is a click.
            let factor = 2 * cos(2 * Double.pi * 440 / 48_000)
            let errors = (2_400..<left.count - 2_400).map { index in
                abs(Double(left[index + 1] + left[index - 1]) - factor * Double(left[index]))
            }
            #expect(errors.max() ?? .infinity <= 4)
            #expect(left.map(abs).max() ?? 0 > 16_000)
        }

        @Test func `stereo is mixed to mono by halves, and surround to stereo by channel position`() async throws {
            let left = media.path("left.wav")
            try await Tool.run(
                words: ["sox", "-D", "-n", "-r", "48000", "-c", "1", "-b", "16", left, "synth", "1", "sine", "440"]
                    + ["gain", "-6"]
            )
            let stereo = media.path("stereo.wav")
            try await Tool.run("sox", "-D", left, stereo, "remix", "1", "0")
            let single = try await media.sox(left)
            let halves = try await render([stereo], to: "48000:16:1")
            #expect(zip(halves, single).allSatisfy { abs(2 * Int($0) - Int($1)) <= 1 })
            #expect(halves.count == single.count)
            // The centre channel is heard on both sides.
            let film = media.path("film.wav")
            try await Tool.run("sox", "-D", left, film, "remix", "0", "0", "1", "0", "0", "0")
            let both = try await render([film], to: "48000:16:2")
            #expect(both.count == 2 * single.count)
            let centre = (0..<single.count).allSatisfy { both[2 * $0] == both[2 * $0 + 1] }
            #expect(centre)
            #expect(both.map { abs(Int($0)) }.max() ?? 0 > 3_000)
        }

        @Test func `removing an item from the queue leaves the end of the previous item whole`() async throws {
            let paths = try await sine("sine", rate: 44_100, cuts: [0.8, 0.8])
            let output = media.path("out.wav")
            let fixture = PlayerFixture(driver: .wav(output), format: AudioFormat("48000:16:2"))
            let items = try await fixture.player.append(paths)
            try await fixture.player.remove(id: items[1].id)
            _ = try await fixture.player.play()
            try await fixture.wait("the end of the queue") { $0.timeControlStatus == .stopped }
            #expect(try media.rendered(output).count == 2 * 38_400)
        }

        @Test func `a seek in a resampled item is exact to the frame`() async throws {
            let path = try await media.wav("item.wav", seconds: 3)
            let whole = try await render([path], to: "48000:16:2")
            let output = media.path("sought.wav")
            let fixture = PlayerFixture(driver: .wav(output), format: AudioFormat("48000:16:2"))
            _ = try await fixture.player.append([path])
            _ = try await fixture.player.play()
            _ = await fixture.player.pause()
            _ = try await fixture.player.seek(to: 2)
            _ = try await fixture.player.play()
            try await fixture.wait("the end of the queue") { $0.timeControlStatus == .stopped }
            let sought = try media.rendered(output).suffix(2 * 48_000)
            // After the edge at which the filter begins.
            #expect(
                zip(sought, whole.suffix(2 * 48_000)).dropFirst(2 * 2_400).allSatisfy { abs(Int($0) - Int($1)) <= 1 }
            )
        }
    }
}
