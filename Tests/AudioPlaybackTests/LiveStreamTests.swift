import AudioPlayback
import BackgrounderAPI
import Foundation
import TestSupport
import Testing

extension Playback {
    /// Live streams, and links that hang.
    @Suite(.serialized) struct LiveStreamTests {
        let media: Media
        let server: TestWebServer

        init() throws { (media, server) = (try Media(), try TestWebServer()) }

        private func sound(seconds: Double = 10) async throws -> [UInt8] {
            let path = try await media.mp3("live.mp3", seconds: seconds, "-b", "128", "-t")
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        }

        /// Sends some sound and then nothing, and keeps the connection open.
        private func hang(_ path: String, after bytes: [UInt8]) {
            server.on(path) { _, connection in
                try connection.sendHead(200, ["Content-Type": "audio/mpeg", "icy-name": "Hang"])
                try connection.send(bytes)
                connection.wait(milliseconds: 60_000)
            }
        }

        @Test(arguments: [1, 17, 333, 16_000, 16_384])
        func `the titles of a live stream are shown while they play, and never become sound`(interval: Int)
            async throws
        {
            let radio = TestRadio(
                sound: try await sound(),
                interval: interval,
                titles: ["Ann: Première", "It's 'B', C"]
            )
            server.on("/live", radio.script)
            let fixture = PlayerFixture(driver: .null, web: testStreams())
            _ = try await fixture.player.play(paths: [server.url("/live")])
            let first = try await fixture.wait("the first title") { $0.currentItem?.title == "Ann: Première" }
            #expect(first.currentItem?.station == "Radio Löwe")
            #expect(first.currentItem?.duration == nil)
            #expect(server.requests(to: "/live").first?.headers["icy-metadata"] == "1")
            let second = try await fixture.wait("the second title") { $0.currentItem?.title == "It's 'B', C" }
            // 64,000 bytes at 128 kbit/s.
            #expect(second.elapsed ?? 0 > 2)
            #expect(second.lastError == nil)
            #expect(await fixture.player.items(in: 0..<1).first?.title == "It's 'B', C")
            #expect(await fixture.journal.queue.first?.title == nil)
            await #expect(throws: PlayerError.notSeekable(item: "live")) { try await fixture.player.seek(to: 1) }
            await #expect(throws: PlayerError.notSeekable(item: "live")) { try await fixture.player.seek(by: -1) }
            _ = await fixture.player.stop()
            try await server.waitForEnd()
        }

        @Test func `a SHOUTcast 1 server, whose replies are not HTTP, is understood`() async throws {
            let sound = try await sound()
            server.on("/live") { _, connection in
                try connection.sendFrame("ICY 200 OK\r\nicy-name: Old Radio\r\ncontent-type: audio/mpeg\r\n\r\n")
                try connection.send(sound)
                connection.wait(milliseconds: 60_000)
            }
            let fixture = PlayerFixture(driver: .null, web: testStreams())
            _ = try await fixture.player.play(paths: [server.url("/live")])
            let status = try await fixture.wait("sound") { $0.elapsed ?? 0 > 0.2 || $0.lastError != nil }
            #expect(status.currentItem?.station == "Old Radio")
            #expect(status.lastError == nil)
        }

        @Test func `a live stream that ends is tuned in again`() async throws {
            let radio = TestRadio(sound: try await sound(), interval: 16_000, titles: ["T"], cut: 100_000)
            server.on("/live", radio.script)
            let fixture = PlayerFixture(driver: .null, web: testStreams())
            _ = try await fixture.player.play(paths: [server.url("/live")])
            try await server.wait(forRequests: 3, to: "/live")
            let status = try await fixture.wait("sound") { $0.elapsed ?? 0 > 1 }
            #expect(status.timeControlStatus == .playing)
            #expect(status.lastError == nil)
            #expect(server.requests(to: "/live").allSatisfy { $0.headers["range"] == nil })
        }

        @Test func `a live stream starts at its present after a restart`() async throws {
            let radio = TestRadio(sound: try await sound(), interval: 16_000)
            server.on("/live", radio.script)
            let item = PlayerItem(id: 1, position: 0, path: server.url("/live"))
            let state = PlayerState(timeControlStatus: .playing, currentItemID: 1, elapsed: 500)
            let fixture = PlayerFixture(driver: .null, queue: [item], state: state, web: testStreams())
            try await fixture.wait("sound from now on") { $0.elapsed ?? 0 > 0.2 && $0.elapsed ?? 0 < 100 }
        }

        @Test func `while a link hangs, the player says so, answers, and plays announcements`() async throws {
            hang("/live", after: try await sound(seconds: 3))
            let fixture = PlayerFixture(driver: .null, web: testStreams())
            _ = try await fixture.player.play(paths: [server.url("/live")])
            try await fixture.wait("sound") { $0.elapsed ?? 0 > 0.5 && $0.buffering == nil }
            let silent = try await fixture.wait("the silence") { $0.buffering != nil }
            #expect(silent.timeControlStatus == .playing)
            #expect(silent.buffering == "waiting for data from 127.0.0.1:\(server.port)")
            let announcement = try await media.wav("announcement.wav", seconds: 1)
            _ = try await fixture.player.interrupt(with: announcement)
            try await fixture.wait("the announcement") { $0.announcement?.elapsed ?? 0 > 0.2 }
            try await fixture.wait("its end") { $0.announcement == nil }
            let next = try await media.wav("next.wav", seconds: 5)
            _ = try await fixture.player.append([next])
            let began = ContinuousClock.now
            let status = try await fixture.player.next()
            #expect(status.currentItem?.path == next)
            try await fixture.wait("the next item's sound") { $0.elapsed ?? 0 > 0 }
            #expect(ContinuousClock.now - began < .seconds(2))
            #expect(await fixture.player.status().buffering == nil)
            try await server.waitForEnd()
        }

        @Test func `pause and stop work at once while a link hangs`() async throws {
            hang("/live", after: [])
            let fixture = PlayerFixture(driver: .null, web: testStreams())
            _ = try await fixture.player.play(paths: [server.url("/live")])
            try await fixture.wait("the connection") { $0.buffering?.hasPrefix("waiting for data") == true }
            let began = ContinuousClock.now
            #expect(await fixture.player.pause().buffering == nil)
            #expect(await fixture.player.stop().timeControlStatus == .stopped)
            #expect(ContinuousClock.now - began < .seconds(1))
            try await server.waitForEnd()
            try await fixture.shutDown()
        }

        @Test func `a link that was silent for a minute gives way to another item, if there is one`() async throws {
            hang("/live", after: [])
            let clock = QuickClock(factor: 20)
            let fixture = PlayerFixture(driver: .null, clock: clock, web: testStreams())
            _ = try await fixture.player.play(paths: [server.url("/live")])
            try await fixture.wait("the connection") { $0.buffering != nil }
            try await clock.wait(forSleepOf: .seconds(60))
            // It is the only item, so it keeps trying.
            #expect(await fixture.player.status().timeControlStatus == .playing)
            #expect(await fixture.player.status().lastError == nil)
            let next = try await media.wav("next.wav", seconds: 3)
            _ = try await fixture.player.append([next])
            let status = try await fixture.wait("the next item") { $0.currentItem?.path == next && $0.elapsed ?? 0 > 0 }
            #expect(status.lastError?.reason.hasPrefix("no sound for 60 s: waiting for data") == true)
            #expect(status.lastError?.path == server.url("/live"))
        }

        @Test func `a link without data is made again, with growing pauses`() async throws {
            hang("/live", after: [])
            var limits = WebStreams.Limits()
            (limits.stall, limits.firstPause, limits.longestPause) = (
                .milliseconds(100), .milliseconds(100), .milliseconds(800)
            )
            let fixture = PlayerFixture(driver: .null, web: testStreams(limits: limits))
            _ = try await fixture.player.play(paths: [server.url("/live")])
            let status = try await fixture.wait("another attempt") { $0.buffering?.contains("retrying") == true }
            #expect(status.buffering == "no data from 127.0.0.1:\(server.port); retrying")
            #expect(status.timeControlStatus == .playing)
            let times = try await server.wait(forRequests: 6, to: "/live").map(\.at)
            let pauses = zip(times.dropFirst(), times).map { $0.timeIntervalSince($1) }
            // The time without data, and a pause of 0.1, 0.2, 0.4, 0.8 and again 0.8 seconds.
            for (pause, least) in zip(pauses, [0.2, 0.3, 0.5, 0.9, 0.9]) {
                #expect(pause > least - 0.01 && pause < least + 0.5, "\(pauses)")
            }
        }

        @Test func `an item is played when its server comes back`() async throws {
            let port = server.port
            let path = try await media.mp3("item.mp3", seconds: 2, "-b", "128")
            let all = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            server.end()
            try await server.waitForEnd()
            let output = media.path("out.wav")
            let fixture = PlayerFixture(driver: .wav(output), web: testStreams())
            _ = try await fixture.player.play(paths: ["http://127.0.0.1:\(port)/item.mp3"])
            try await fixture.wait("a refused connection") {
                $0.buffering?.contains("connection refused; retrying") == true
            }
            let back = try TestWebServer(port: port)
            back.on("/item.mp3") { _, connection in try connection.reply(200, ["ETag": "\"1\""], all) }
            try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            #expect(try media.rendered(output) == (try await media.mpg123(path)))
        }
    }
}
