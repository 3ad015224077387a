import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import AudioPlayback
@testable import MediaFiles

extension Playback {
    /// Gains from tags apply to the samples of their item, from the first frame to the last.
    @Suite(.serialized) struct ReplayGainTests {
        let media: Media

        init() throws { media = try Media() }

        private func render(_ paths: [String], _ mode: ReplayGainMode, random: Bool = false) async throws -> [Int16] {
            let output = media.path("out.wav")
            let options = PlayerOptions(random: random, replayGain: mode)
            let fixture = PlayerFixture(driver: .wav(output), state: PlayerState(options: options))
            _ = try await fixture.player.append(paths)
            _ = try await fixture.player.play()
            try await fixture.wait("the end of the queue") { $0.timeControlStatus == .stopped }
            return try media.rendered(output)
        }

        private func flac(_ name: String, _ tags: [String: String], seconds: Double = 0.6) async throws -> String {
            let path = try await media.wav(name, seconds: seconds)
            let flac = media.path(name + ".flac")
            try await Tool.run(words: ["flac", "-s", "-f", "-o", flac] + tags.map { "--tag=\($0)=\($1)" } + [path])
            return flac
        }

        private func scaled(_ samples: [Int16], by factor: Double) -> [Int16] {
            samples.map { Int16(max(-32_768, min(32_767, (Double($0) * factor).rounded()))) }
        }

        /// Allows for rounding, of the factor to 16 bits and of the product.
        private func expectEqual(_ samples: some Collection<Int16>, _ expected: some Collection<Int16>) {
            #expect(samples.count == expected.count)
            #expect(zip(samples, expected).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
        }

        @Test func `each item has its own gain from its first frame, and one without tags is unchanged`() async throws {
            let tags = ["REPLAYGAIN_TRACK_GAIN": "-6.50 dB", "REPLAYGAIN_ALBUM_GAIN": "+3.00 dB"]
            let quiet = try await flac("quiet.wav", tags)
            let plain = try await media.wav("plain.wav", seconds: 0.4)
            let loud = try await flac("loud.wav", ["REPLAYGAIN_TRACK_GAIN": "2 dB", "REPLAYGAIN_TRACK_PEAK": "0.51"])
            let (first, second, third) = (
                try await media.sox(quiet), try await media.sox(plain), try await media.sox(loud)
            )
            #expect(try await render([quiet, plain, loud], .off) == first + second + third)
            let track = scaled(first, by: pow(10, -6.5 / 20)) + second + scaled(third, by: pow(10, 2 / 20.0))
            expectEqual(try await render([quiet, plain, loud], .track), track)
            // An item with only one of the two gains uses that one.
            let album = scaled(first, by: pow(10, 3 / 20.0)) + second + scaled(third, by: pow(10, 2 / 20.0))
            expectEqual(try await render([quiet, plain, loud], .album), album)
            expectEqual(try await render([quiet, plain, loud], .auto), album)
            expectEqual(try await render([quiet], .auto, random: true), track.prefix(first.count))
        }

        @Test func `a gain is limited by the peak; if the peak is unknown, loud samples are clipped`() async throws {
            let known = try await flac("known.wav", ["REPLAYGAIN_TRACK_GAIN": "12", "REPLAYGAIN_TRACK_PEAK": "0.8"])
            let samples = try await media.sox(known)
            expectEqual(try await render([known], .track), scaled(samples, by: 1.25))
            let unknown = try await flac("unknown.wav", ["REPLAYGAIN_TRACK_GAIN": "12 dB"])
            expectEqual(try await render([unknown], .track), scaled(samples, by: pow(10, 12 / 20.0)))
        }

        @Test func `gains from lame, flac and opusenc are read`() async throws {
            let wav = try await media.wav("item.wav", seconds: 3)
            let mp3 = media.path("item.mp3")
            try await Tool.run("lame", "--quiet", "--replaygain-accurate", "-b", "192", wav, mp3)
            // The mpg123 program applies the gain that its library reads, and the same peak from the tag.
            let data = try await Tool.run("mpg123", "-q", "--rva-mix", "-s", "-e", "s16", mp3)
            let reference = [UInt8](data).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
            #expect(reference != (try await media.mpg123(mp3)))
            expectEqual(try await render([mp3], .track), reference)

            let flac = media.path("item.flac")
            try await Tool.run("flac", "-s", "-f", "--replay-gain", "-o", flac, wav)
            let shown = String(
                decoding: try await Tool.run("metaflac", "--show-tag=REPLAYGAIN_TRACK_GAIN", flac),
                as: UTF8.self
            )
            let gain = try #require(Double(shown.drop { $0 != "=" }.dropFirst().prefix { $0 != " " }))
            let plain = try await media.sox(flac)
            let peak = Double(plain.map { abs(Int($0)) }.max() ?? 0) / 32_768
            expectEqual(try await render([flac], .track), scaled(plain, by: min(pow(10, gain / 20), 1 / peak)))

            let opus = media.path("item.opus")
            try await Tool.run("opusenc", "--quiet", "--comment", "R128_TRACK_GAIN=-2816", wav, opus)
            let file = try MediaFile(path: opus)
            #expect(try openSampleSource(file).replayGain.factor(.track) == pow(10, -6.0 / 20))
        }

        @Test func `gains in the frames of an ID3 tag override those of the encoder`() async throws {
            let wav = try await media.wav("item.wav", seconds: 1)
            let mp3 = media.path("item.mp3")
            try await Tool.run(
                words: ["lame", "--quiet", "--id3v2-only", "--tv", "TXXX=replaygain_track_gain=-4.00 dB"]
                    + ["--tv", "TXXX=REPLAYGAIN_TRACK_PEAK=0.9", "--tv", "TXXX=replaygain_album_gain=-9 dB", wav, mp3]
            )
            let gain = try openSampleSource(try MediaFile(path: mp3)).replayGain
            #expect(gain.track == ReplayGain.Value(gain: -4, peak: 0.9))
            #expect(gain.album == ReplayGain.Value(gain: -9))
        }

        @Test func `the peak that lame writes is found after a tag with a footer`() async throws {
            let mp3 = try await media.mp3("item.mp3", seconds: 1, "--replaygain-accurate", "-b", "192")
            let gain = try openSampleSource(MediaFile(path: mp3)).replayGain
            #expect(gain.track?.peak != nil)
            let content = [UInt8](repeating: 0, count: 10)
            let rest: [UInt8] = [4, 0, 0x10, 0, 0, 0, 10]
            let tag = Array("ID3".utf8) + rest + content + Array("3DI".utf8) + rest
            let tagged = try media.scratch.write(
                tag + Data(contentsOf: URL(fileURLWithPath: mp3)),
                to: "tagged.mp3"
            )
            #expect(try openSampleSource(MediaFile(path: tagged)).replayGain == gain)
        }

        @Test(arguments: ["", "loud", "1e999", "-200 dB", "nan", "3 dB or so", "0x1p3 dB dB"])
        func `an invalid gain is ignored`(text: String) {
            #expect(ReplayGain { $0 == "REPLAYGAIN_TRACK_GAIN" ? text : nil } == ReplayGain())
        }

        @Test func `a stored state without the option has replay gain off`() throws {
            let old = """
                {"volume": 70, "repeat": true, "single": false, "consume": false, "random": false,
                "actionAtItemEnd": "pause"}
                """
            let options = try JSONDecoder().decode(PlayerOptions.self, from: Data(old.utf8))
            #expect(options == PlayerOptions(volume: 70, repeat: true, actionAtItemEnd: .pause))
        }

        @Test func `replay gain is set by a command, shown, stored and heard`() async throws {
            let path = try await flac("item.wav", ["REPLAYGAIN_TRACK_GAIN": "-20 dB"], seconds: 4)
            let fixture = PlayerFixture(driver: .wav(media.path("out.wav")))
            let status = try await fixture.player.setOptions(replayGain: .track)
            #expect(status.replayGain == .track)
            _ = try await fixture.player.play(paths: [path])
            try await fixture.wait("the end of the queue") { $0.timeControlStatus == .stopped }
            expectEqual(try media.rendered(media.path("out.wav")), scaled(try await media.sox(path), by: 0.1))
            let written = await fixture.journal.state
            #expect(written.options.replayGain == .track)
        }
    }
}
