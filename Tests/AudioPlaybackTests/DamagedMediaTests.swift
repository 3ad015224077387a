import AudioPlayback
import BackgrounderAPI
import Foundation
import TestSupport
import Testing

extension Playback {
    /// Files that are not what they should be are said so, and the rest goes on.
    @Suite(.serialized) struct DamagedMediaTests {
        let media: Media

        init() throws { media = try Media() }

        private func write(_ name: String, _ data: Data) throws -> String {
            try data.write(to: URL(fileURLWithPath: media.path(name)))
            return media.path(name)
        }

        private func render(_ paths: [String]) async throws -> (samples: [Int16], error: PlaybackError?) {
            let output = media.path("out.wav")
            let fixture = PlayerFixture(driver: .wav(output))
            _ = try await fixture.player.append(paths)
            _ = try await fixture.player.play()
            let status = try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            let samples = FileManager.default.fileExists(atPath: output) ? try media.rendered(output) : []
            return (samples, status.lastError)
        }

        @Test func `Items that hold no sound are reported and skipped`() async throws {
            let good = try await media.wav("good.wav", seconds: 0.5)
            let last = try await media.wav("last.wav", seconds: 0.5, frequency: 800)
            let bad = [
                try write("empty.mp3", Data()), try write("text.mp3", Data("no music here\n".utf8)),
                try write("zeros.mp3", Data(count: 3_000_000)),
                try write("header.wav", Data(contentsOf: URL(fileURLWithPath: good)).prefix(44)),
            ]
            let (samples, error) = try await render([good] + bad + [last])
            #expect(samples == (try await media.sox(good)) + (try await media.sox(last)))
            #expect(error?.path == bad.last || bad.contains(error?.path ?? ""))
            #expect(error?.reason.isEmpty == false)
        }

        @Test func `A queue in which nothing can be played stops and says so, also with repeat`() async throws {
            let bad = [try write("a.mp3", Data("nothing".utf8)), try write("b.wav", Data())]
            let fixture = PlayerFixture(driver: .null, state: PlayerState(options: PlayerOptions(repeat: true)))
            let began = try await fixture.player.append(bad)
            _ = try await fixture.player.play()
            let status = try await fixture.wait("the stop") { $0.timeControlStatus == .stopped }
            #expect(status.lastError?.reason.contains("Nothing in the queue can be played") == true)
            #expect(began.count == 2)
        }

        @Test func `A file that vanished is skipped`() async throws {
            let gone = try await media.wav("gone.wav", seconds: 0.5)
            let good = try await media.wav("good.wav", seconds: 0.5)
            let fixture = PlayerFixture(driver: .null)
            _ = try await fixture.player.append([gone, good])
            try FileManager.default.removeItem(atPath: gone)
            _ = try await fixture.player.play()
            let status = try await fixture.wait("the good one") { $0.currentItem?.id == 2 && $0.elapsed ?? 0 > 0 }
            #expect(status.lastError?.path == gone && status.lastError?.reason == "no such file")
        }

        @Test func `A truncated WAV is played as far as it goes, and reported`() async throws {
            let whole = try await media.wav("whole.wav", seconds: 2)
            let samples = try await media.sox(whole)
            let path = try write("cut.wav", Data(contentsOf: URL(fileURLWithPath: whole)).prefix(100_044))
            let (heard, error) = try await render([path])
            #expect(heard == Array(samples.prefix(50_000)))
            #expect(error?.path == path && error?.reason.contains("25000 of 88200") == true, "\(error?.reason ?? "-")")
        }

        @Test func `A truncated MP3 is played as far as it goes, and reported`() async throws {
            let whole = try await media.mp3("whole.mp3", seconds: 5, "-b", "128")
            let path = try write("cut.mp3", Data(contentsOf: URL(fileURLWithPath: whole)).prefix(40_000))
            let expected = try await media.mpg123(path)
            let (heard, error) = try await render([path])
            #expect(heard == expected && heard.count > 100_000)
            #expect(error?.path == path && error?.reason.contains("ends early") == true, "\(error?.reason ?? "-")")
        }

        @Test func `A hole in an MP3 is skipped, and reported`() async throws {
            let whole = try await media.mp3("whole.mp3", seconds: 5, "-b", "128")
            var data = try Data(contentsOf: URL(fileURLWithPath: whole))
            for index in 30_000..<36_000 { data[index] = 0 }
            let path = try write("hole.mp3", data)
            // Behind the hole a piece of sound looks like a frame of another rate, which mpg123 plays and this player does not.
            let expected = try await media.mpg123(whole)
            let (heard, error) = try await render([path])
            #expect(heard.count > expected.count - 44_100 && heard.count < expected.count)
            #expect(heard.prefix(150_000) == expected.prefix(150_000))
            #expect(error?.path == path && error?.reason.isEmpty == false, "\(error?.reason ?? "-")")
        }

        @Test func `Junk in front of an MP3 is passed over`() async throws {
            let whole = try await media.mp3("whole.mp3", seconds: 3, "-b", "128")
            let path = try write("late.mp3", Data(count: 300_000) + Data(contentsOf: URL(fileURLWithPath: whole)))
            let (heard, error) = try await render([path])
            #expect(heard == (try await media.mpg123(whole)), "\(error?.reason ?? "-")")
        }

        @Test func `An MP3 that changes its rate in the middle goes on in another file`() async throws {
            let first = try await media.mp3("a.mp3", seconds: 2, "-t", "-b", "128")
            let second = try await media.mp3("b.mp3", seconds: 2, rate: 48_000, "-t", "-b", "128")
            let joined =
                try Data(contentsOf: URL(fileURLWithPath: first)) + Data(contentsOf: URL(fileURLWithPath: second))
            let path = try write("joined.mp3", joined)
            let fixture = PlayerFixture(driver: .wav(media.path("out.wav")))
            _ = try await fixture.player.play(paths: [path])
            try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            #expect(try media.rendered(media.path("out.wav")).count > 170_000)
            #expect(try media.rendered(media.path("out.wav-2")).count > 180_000)
        }
    }
}
