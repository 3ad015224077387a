import AudioPlayback
import BackgrounderAPI
import Foundation
import NIOPosix
import Synchronization
import TestSupport
import Testing
import WebSupport

/// Streams that tests play from a server on this machine.
func testStreams(limits: WebStreams.Limits = WebStreams.Limits()) -> WebStreams {
    WebStreams(
        clients: WebClients(on: MultiThreadedEventLoopGroup.singleton),
        policy: RedirectPolicy(plainHosts: []),
        clock: ContinuousClock(),
        limits: limits
    )
}

extension Playback {
    /// Files on a web server, with good and bad links.
    @Suite(.serialized) struct RemoteFileTests {
        let media: Media
        let server: TestWebServer

        init() throws { (media, server) = (try Media(), try TestWebServer()) }

        /// Streams that do not wait long before another attempt.
        private var quickStreams: WebStreams {
            var limits = WebStreams.Limits()
            limits.firstPause = .milliseconds(50)
            return testStreams(limits: limits)
        }

        private func bytes(_ path: String) throws -> [UInt8] {
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        }

        /// Serves a file with ranges; `cuts` are the places where the first connections break.
        private func serve(_ path: String, _ bytes: [UInt8], cuts: [Int] = [], takesRanges: Bool = true) {
            let rest = Counter()
            server.on(path) { request, connection in
                let number = rest.next()
                let start = takesRanges ? request.rangeStart : 0
                var headers = [
                    "Content-Type": "audio/mpeg", "ETag": "\"1\"", "Content-Length": "\(bytes.count - start)",
                ]
                if takesRanges { headers["Accept-Ranges"] = "bytes" }
                if start > 0 { headers["Content-Range"] = "bytes \(start)-\(bytes.count - 1)/\(bytes.count)" }
                try connection.sendHead(start > 0 ? 206 : 200, headers)
                let end = number < cuts.count ? cuts[number] : bytes.count
                try connection.send(bytes[start..<max(start, end)])
                if end < bytes.count { connection.close() }
            }
        }

        private func render(_ paths: [String], limit: Duration = .seconds(60)) async throws -> [Int16] {
            let output = media.path("out.wav")
            let fixture = PlayerFixture(driver: .wav(output), web: quickStreams)
            _ = try await fixture.player.append(paths)
            _ = try await fixture.player.play()
            try await fixture.wait("the end of the queue", limit: limit) { $0.timeControlStatus == .stopped }
            return try media.rendered(output)
        }

        @Test(arguments: [["-b", "128"], ["-V", "4"], ["-t", "-b", "128"], ["-m", "m", "-b", "64"]])
        func `an MP3 from a server sounds like the file`(options: [String]) async throws {
            let source = try await media.wav("source.wav", seconds: 7)
            let path = media.path("item.mp3")
            try await Tool.run(words: ["lame", "--quiet"] + options + ["--tt", "Episode", source, path])
            serve("/item.mp3", try bytes(path))
            let samples = try await render([server.url("/item.mp3")])
            let expected = try await media.mpg123(path)
            #expect(samples.count == expected.count)
            #expect(samples == expected)
        }

        @Test(arguments: [true, false])
        func `a file continues at its byte after the link broke, bit for bit`(takesRanges: Bool) async throws {
            let path = try await media.mp3("item.mp3", seconds: 20, "-b", "128")
            serve("/item.mp3", try bytes(path), cuts: [70_001, 150_003], takesRanges: takesRanges)
            let samples = try await render([server.url("/item.mp3")])
            #expect(samples == (try await media.mpg123(path)))
            let starts = server.requests(to: "/item.mp3").map(\.rangeStart)
            #expect(starts.count == 3)
            // Bytes that arrive right before the break may be lost with it.
            for (start, end) in zip(starts, [0, 70_001, 150_003]) { #expect(start <= end) }
            #expect(starts == starts.sorted() && starts[1] > 0)
            #expect(server.requests(to: "/item.mp3").last?.headers["if-range"] == "\"1\"")
        }

        @Test func `files from a server join other files without a gap`() async throws {
            let first = try await media.mp3("a.mp3", seconds: 3, "-b", "128")
            let second = try await media.mp3("b.mp3", seconds: 2, frequency: 700, "-b", "128")
            serve("/a.mp3", try bytes(first))
            let expected = try await media.mpg123(first) + media.mpg123(second)
            #expect(try await render([server.url("/a.mp3"), second]) == expected)
        }

        @Test func `a file has its title and length, and a seek asks for its bytes only`() async throws {
            let source = try await media.wav("source.wav", seconds: 120)
            let path = media.path("item.mp3")
            try await Tool.run(words: ["lame", "--quiet", "-b", "64", "--tt", "Episode", source, path])
            serve("/item.mp3", try bytes(path))
            let fixture = PlayerFixture(driver: .null, web: testStreams())
            _ = try await fixture.player.play(paths: [server.url("/item.mp3")])
            let status = try await fixture.wait("its sound") { $0.elapsed ?? 0 > 0.1 }
            #expect(status.currentItem?.title == "Episode")
            #expect(status.bitrate == 64)
            #expect(abs((status.currentItem?.duration ?? 0) - 120) < 0.1)
            #expect(status.currentItem?.sampleRate == 24_000 || status.currentItem?.sampleRate == 44_100)
            _ = try await fixture.player.seek(to: 100)
            try await fixture.wait("sound after the seek") { $0.elapsed ?? 0 > 100.2 && $0.buffering == nil }
            let start = try #require(server.requests(to: "/item.mp3").last?.rangeStart)
            // 64 kbit/s are 8,000 bytes a second.
            #expect(abs(start - 100 * 8_000) < 20_000)
            let journal = try await fixture.wait("its stored length") { _ in
                await fixture.journal.queue.first?.duration != nil
            }
            #expect(journal.currentItem?.path == server.url("/item.mp3"))
        }

        @Test func `after a seek the sound is that of the file at that time`() async throws {
            let path = try await media.mp3("item.mp3", seconds: 60, "-b", "128")
            serve("/item.mp3", try bytes(path))
            let output = media.path("out.wav")
            let item = PlayerItem(id: 1, position: 0, path: server.url("/item.mp3"))
            let state = PlayerState(timeControlStatus: .playing, currentItemID: 1, elapsed: 40)
            let fixture = PlayerFixture(driver: .wav(output), queue: [item], state: state, web: testStreams())
            try await fixture.wait("the end of the queue") { $0.timeControlStatus == .stopped }
            let samples = try media.rendered(output)
            let expected = try await media.mpg123(path)[(40 * 88_200)...]
            #expect(samples.count == expected.count)
            #expect(samples.elementsEqual(expected))
        }

        /// A reply that rules an item out, and the words of the reason.
        @Test(arguments: [
            (404, "nothing at this URL (404)"), (410, "gone for good"), (401, "denied access"), (403, "denied access"),
        ])
        func `an item that the server refuses is skipped with the reason`(status: Int, reason: String) async throws {
            server.reply(to: "/a.mp3", status)
            let next = try await media.mp3("next.mp3", seconds: 2, "-b", "128")
            let output = media.path("out.wav")
            let fixture = PlayerFixture(driver: .wav(output), web: testStreams())
            let items = try await fixture.player.append([server.url("/a.mp3"), next])
            _ = try await fixture.player.play()
            let end = try await fixture.wait("the end of the queue") { $0.timeControlStatus == .stopped }
            #expect(try media.rendered(output) == (try await media.mpg123(next)))
            #expect(end.lastError?.path == server.url("/a.mp3"))
            #expect(end.lastError?.reason.contains(reason) == true, "\(end.lastError?.reason ?? "none")")
            #expect(await fixture.player.item(id: items[0].id)?.error?.contains(reason) == true)
        }

        @Test func `replies that are not sound are refused with the reason, in bounded memory`() async throws {
            server.reply(to: "/page", headers: ["Content-Type": "text/html; charset=utf-8"], body: "<html>")
            server.reply(to: "/list", headers: ["Content-Type": "audio/x-mpegurl"], body: "http://a/b")
            server.reply(to: "/wav", body: "RIFF" + String(repeating: "a", count: 1000))
            server.reply(to: "/zeros", body: String(repeating: "\0", count: 3 << 20))
            server.reply(to: "/metaint", headers: ["icy-metaint": "12x"], body: "a")
            server.on("/headers") { _, connection in
                try connection.sendFrame("HTTP/1.1 200 OK\r\n")
                while true { try connection.sendFrame("X-More: \(String(repeating: "a", count: 1000))\r\n") }
            }
            server.on("/tag") { _, connection in
                try connection.sendHead(200, [:])
                try connection.send(Array("ID3".utf8) + [4, 0, 0, 0x7F, 0x7F, 0x7F, 0x7F])
                while true { try connection.send([UInt8](repeating: 0, count: 1 << 16)) }
            }
            server.on("/noise") { _, connection in
                try connection.sendHead(200, [:])
                while true { try connection.send([UInt8](repeating: 0x20, count: 1 << 16)) }
            }
            server.reply(to: "/loop", 302, headers: ["Location": "/loop"])
            let cases = [
                ("/page", "text/html instead of sound"), ("/list", "sent a playlist"), ("/wav", "only MP3"),
                ("/zeros", "not a supported audio format"), ("/metaint", "invalid icy-metaint: 12x"),
                ("/headers", "cannot read the reply"), ("/tag", "larger than 16 MiB"),
                ("/noise", "not a supported audio format"), ("/loop", "redirects more than 5 times"),
            ]
            for (path, words) in cases {
                let fixture = PlayerFixture(driver: .null, web: testStreams())
                _ = try await fixture.player.play(paths: [server.url(path)])
                let status = try await fixture.wait("the refusal of \(path)") { $0.timeControlStatus == .stopped }
                #expect(status.lastError?.reason.contains(words) == true, "\(path): \(status.lastError?.reason ?? "")")
            }
        }

        @Test func `a file that is shorter than its stated length ends with a report`() async throws {
            let path = try await media.mp3("item.mp3", seconds: 5, "-b", "128")
            let all = try bytes(path)
            server.on("/item.mp3") { request, connection in
                try connection.sendHead(200, ["ETag": "\"1\"", "Content-Length": "\(all.count + 5_000)"])
                try connection.send(all)
                connection.close()
            }
            let fixture = PlayerFixture(driver: .wav(media.path("out.wav")), web: quickStreams)
            _ = try await fixture.player.play(paths: [server.url("/item.mp3")])
            let end = try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            #expect(end.lastError?.reason.contains("the server ends the file early: ") == true)
        }

        @Test func `a file that changed on the server is not mixed with its new version`() async throws {
            let path = try await media.mp3("item.mp3", seconds: 20, "-b", "128")
            let all = try bytes(path)
            let count = Counter()
            server.on("/item.mp3") { request, connection in
                let number = count.next()
                try connection.sendHead(200, ["ETag": "\"\(number)\"", "Content-Length": "\(all.count)"])
                try connection.send(all.prefix(100_000))
                connection.close()
            }
            let fixture = PlayerFixture(driver: .wav(media.path("out.wav")), web: testStreams())
            _ = try await fixture.player.play(paths: [server.url("/item.mp3")])
            let end = try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            #expect(end.lastError?.reason.contains("the file changed on the server") == true)
        }
    }
}

/// Counts calls, from 0.
final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            defer { count += 1 }
            return count
        }
    }
}
