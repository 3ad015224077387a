import BackgrounderAPI
import Foundation
import MediaFiles
import TestSupport
import Testing

@testable import AudioPlayback

extension Playback {
    /// Damaged files are reported, and playback continues.
    @Suite(.serialized) struct DamagedMediaTests {
        let media: Media

        init() throws { media = try Media() }

        private func write(_ name: String, _ data: Data) throws -> String {
            try data.write(to: URL(fileURLWithPath: media.path(name)))
            return media.path(name)
        }

        private func render(_ paths: [String]) async throws -> (samples: [Int16], error: PlaybackError?) {
            let output = media.path("out.wav")
            let fixture = PlayerFixture(driver: .wav(output), queue: stored(paths))
            _ = try await fixture.player.play()
            let status = try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            let samples = FileManager.default.fileExists(atPath: output) ? try media.rendered(output) : []
            return (samples, status.lastError)
        }

        /// Returns items for a restored queue, since adding files would check their content.
        private func stored(_ paths: [String]) -> [PlayerItem] {
            paths.enumerated().map { PlayerItem(id: $0.offset + 1, position: $0.offset, path: $0.element) }
        }

        @Test func `items without sound are reported and skipped`() async throws {
            let good = try await media.wav("good.wav", seconds: 0.5)
            let last = try await media.wav("last.wav", seconds: 0.5, frequency: 800)
            let bad = [
                try write("empty.mp3", Data()), try write("text.mp3", Data("no music here\n".utf8)),
                try write("zeros.mp3", Data(count: 3_000_000)),
                try write("header.wav", Data(contentsOf: URL(fileURLWithPath: good)).prefix(44)),
            ]
            let (samples, error) = try await render([good] + bad + [last])
            #expect(samples == (try await media.sox(good)) + (try await media.sox(last)))
            #expect(bad.contains(error?.path ?? ""))
            #expect(error?.reason.isEmpty == false)
        }

        @Test func `a queue with nothing playable stops with an error, even with repeat`() async throws {
            let bad = [try write("a.mp3", Data("nothing".utf8)), try write("b.wav", Data())]
            let fixture = PlayerFixture(
                driver: .null,
                queue: stored(bad),
                state: PlayerState(options: PlayerOptions(repeat: true))
            )
            let began = await fixture.player.queue()
            _ = try await fixture.player.play()
            let status = try await fixture.wait("the stop") { $0.timeControlStatus == .stopped }
            #expect(status.lastError?.reason.contains("Nothing in the queue can be played") == true)
            #expect(began.count == 2)
        }

        @Test func `a file that has vanished is skipped and marked until the next play`() async throws {
            let gone = try await media.wav("gone.wav", seconds: 0.5)
            let good = try await media.wav("good.wav", seconds: 0.5)
            let fixture = PlayerFixture(driver: .null)
            _ = try await fixture.player.append([gone, good])
            try FileManager.default.removeItem(atPath: gone)
            _ = try await fixture.player.play()
            let status = try await fixture.wait("the good one") { $0.currentItem?.id == 2 && $0.elapsed ?? 0 > 0 }
            #expect(status.lastError?.path == gone)
            #expect(status.lastError?.reason == "no such file")
            #expect(await fixture.player.queue().map(\.error) == ["no such file", nil])
            #expect(await fixture.player.item(id: 1)?.error == "no such file")
            #expect(try await fixture.player.move(id: 1, to: 1).error == "no such file")
            // Playing again clears the marks.
            try FileManager.default.copyItem(atPath: good, toPath: gone)
            _ = try await fixture.player.play()
            #expect(await fixture.player.queue().map(\.error) == [nil, nil])
        }

        @Test func `an item's error mark is removed when the item plays again`() async throws {
            let gone = media.path("gone.wav")
            let good = try await media.wav("good.wav", seconds: 20)
            let fixture = PlayerFixture(driver: .null)
            try FileManager.default.copyItem(atPath: good, toPath: gone)
            _ = try await fixture.player.append([gone, good])
            try FileManager.default.removeItem(atPath: gone)
            _ = try await fixture.player.play()
            try await fixture.wait("the good one") { $0.currentItem?.id == 2 && $0.elapsed ?? 0 > 0 }
            #expect(await fixture.player.item(id: 1)?.error == "no such file")
            try FileManager.default.copyItem(atPath: good, toPath: gone)
            _ = try await fixture.player.previous()
            try await fixture.wait("the one that is back") { $0.currentItem?.id == 1 && $0.elapsed ?? 0 > 0 }
            #expect(await fixture.player.queue().map(\.error) == [nil, nil])
        }

        @Test func `a truncated WAV is played up to its end and reported`() async throws {
            let whole = try await media.wav("whole.wav", seconds: 2)
            let samples = try await media.sox(whole)
            let path = try write("cut.wav", Data(contentsOf: URL(fileURLWithPath: whole)).prefix(100_044))
            let (heard, error) = try await render([path])
            #expect(heard == Array(samples.prefix(50_000)))
            #expect(error?.path == path, "\(error?.reason ?? "-")")
            #expect(error?.reason.contains("25000 of 88200") == true, "\(error?.reason ?? "-")")
        }

        @Test func `a truncated MP3 is played up to its end and reported`() async throws {
            let whole = try await media.mp3("whole.mp3", seconds: 5, "-b", "128")
            let path = try write("cut.mp3", Data(contentsOf: URL(fileURLWithPath: whole)).prefix(40_000))
            let expected = try await media.mpg123(path)
            let (heard, error) = try await render([path])
            #expect(heard == expected)
            #expect(heard.count > 100_000)
            #expect(error?.path == path, "\(error?.reason ?? "-")")
            #expect(error?.reason.contains("ends early") == true, "\(error?.reason ?? "-")")
        }

        @Test func `a hole in an MP3 is skipped and reported`() async throws {
            let whole = try await media.mp3("whole.mp3", seconds: 5, "-b", "128")
            var data = try Data(contentsOf: URL(fileURLWithPath: whole))
            for index in 30_000..<36_000 { data[index] = 0 }
            let path = try write("hole.mp3", data)
            // After the hole, some data looks like a frame of another rate, which mpg123 plays but this player skips.
            let expected = try await media.mpg123(whole)
            let (heard, error) = try await render([path])
            #expect(heard.count > expected.count - 44_100)
            #expect(heard.count < expected.count)
            #expect(heard.prefix(150_000) == expected.prefix(150_000))
            #expect(error?.path == path, "\(error?.reason ?? "-")")
            #expect(error?.reason.isEmpty == false, "\(error?.reason ?? "-")")
        }

        @Test func `an MP3 with a hole and an early end is reported with all missing frames`() async throws {
            var data = try Data(
                contentsOf: URL(fileURLWithPath: await media.mp3("whole.mp3", seconds: 20, "-b", "128"))
            )
            for index in 30_000..<33_000 { data[index] = 0 }
            let path = try write("hole-cut.mp3", data.prefix(100_000))
            let fault = try #require(try Decoding(path).fault)
            guard case .truncated(let frames, let promised) = fault else { return #expect(Bool(false), "\(fault)") }
            #expect(promised == 882_000)
            #expect((200_000..<300_000).contains(frames))
        }

        @Test func `junk before the first frame of an MP3 is skipped`() async throws {
            let whole = try await media.mp3("whole.mp3", seconds: 3, "-b", "128")
            let path = try write("late.mp3", Data(count: 300_000) + Data(contentsOf: URL(fileURLWithPath: whole)))
            let (heard, error) = try await render([path])
            #expect(heard == (try await media.mpg123(whole)), "\(error?.reason ?? "-")")
        }

        @Test func `an MP3 that changes its sample rate continues in another output file`() async throws {
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

        @Test func `a FLAC continues after a hole and reports how much was lost`() async throws {
            let source = try await media.wav("source.wav", seconds: 3)
            let path = media.path("item.flac")
            try await Tool.run("sox", "-D", source, path)
            let whole = try Decoding(path)
            var data = try Data(contentsOf: URL(fileURLWithPath: path))
            for index in data.count / 2..<data.count / 2 + 3_000 { data[index] = 0 }
            let rest = try Decoding(try write("hole.flac", data))
            guard case .lost(let frames)? = rest.fault else {
                Issue.record("\(String(describing: rest.fault))")
                return
            }
            #expect(frames > 0)
            #expect(frames % 4096 == 0)
            #expect(rest.frames == whole.frames - frames)
            let first = zip(rest.samples, whole.samples).enumerated().first { $1.0 != $1.1 }?.offset ?? 0
            #expect(rest.samples[first...] == whole.samples[(first + frames * 2)...])
            #expect(first > whole.samples.count / 4)
        }

        @Test func `missing and damaged pages of an Ogg file are reported`() async throws {
            let source = try await media.wav("source.wav", seconds: 10)
            let path = media.path("item.ogg")
            try await Tool.run("oggenc", "-Q", "-q", "6", "-o", path, source)
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            var pages: [Int] = []
            var from = 0
            while let page = data.range(of: Data("OggS".utf8), in: from..<data.count) {
                pages.append(page.lowerBound)
                from = page.upperBound
            }
            try #require(pages.count > 8)
            let whole = try Decoding(path)
            #expect(whole.fault == nil)
            let cut = try Decoding(try write("cut.ogg", data.prefix(pages[pages.count - 1])))
            #expect(cut.fault == .unfinished)
            #expect(cut.frames > whole.frames / 2)
            let gap = try Decoding(try write("gap.ogg", data[..<pages[5]] + data[pages[6]...]))
            #expect(gap.fault == .missing(pages: 1))
            #expect(gap.frames > whole.frames / 2)
            let junk = try Decoding(try write("junk.ogg", data[..<pages[5]] + Data(count: 777) + data[pages[5]...]))
            #expect(junk.fault == .damaged(skippedBytes: 777))
            #expect(junk.frames > whole.frames / 2)
            // A seek past the indexed part still finds its frame.
            let tail = try Decoding(media.path("cut.ogg"), from: 100_000)
            #expect(tail.frames == cut.frames - 100_000)
        }

        @Test(arguments: ["aiff", "au", "w64", "wav"])
        func `a file that is shorter than its header states is reported`(kind: String) async throws {
            let source = try await media.wav("source.wav", seconds: 1)
            let path = media.path("item.\(kind)")
            try await Tool.run("sox", "-D", source, "-e", "mu-law", path)
            let cut = try write("cut.\(kind)", Data(contentsOf: URL(fileURLWithPath: path)).dropLast(10_000))
            let fault = try #require(try Decoding(cut).fault)
            switch fault {
            // Wave64 ends at a multiple of 8 bytes.
            case .cut(let bytes): #expect((9_992...10_000).contains(bytes))
            case .truncated(let frames, let promised): #expect(promised - frames > 4_000)
            default: Issue.record("\(fault)")
            }
        }

        @Test func `an MP3 that keeps changing its sample rate is abandoned`() async throws {
            let first = try await media.mp3("a.mp3", seconds: 0.5, "-t", "-b", "128")
            let second = try await media.mp3("b.mp3", seconds: 0.5, rate: 48_000, "-t", "-b", "128")
            let both = try [first, second].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
            let path = try write("many.mp3", (0..<20).reduce(Data()) { joined, _ in joined + both[0] + both[1] })
            let decoding = try Decoding(path)
            #expect(decoding.changes == 16)
            #expect(decoding.fault?.reason.contains("more than 16 times") == true)
        }
    }
}
