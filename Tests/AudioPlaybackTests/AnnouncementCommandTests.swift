import AudioPlayback
import BackgrounderAPI
import Foundation
import TestSupport
import Testing

extension Playback {
    /// Commands, losses and restarts while an announcement is heard.
    @Suite(.serialized) struct AnnouncementCommandTests {
        let media: Media

        init() throws {
            media = try Media()
            SoundServer.announce()
        }

        /// Music with an announcement over it that has begun.
        private func announcing(
            _ driver: AudioDriverName = .null,
            seconds: Double = 20,
            duck: Double? = nil
        ) async throws -> PlayerFixture {
            let fixture = PlayerFixture(driver: driver)
            let paths = try ["a.wav", "b.wav"].map { try media.level($0, 3_000, frames: 30 * 44_100) }
            let voice = try media.level("voice.wav", 9_000, frames: Int(seconds * 44_100))
            _ = try await fixture.player.play(paths: paths)
            try await fixture.wait("the music") { $0.elapsed ?? 0 > 0.1 }
            _ = try await fixture.player.interrupt(with: voice, duck: duck)
            try await fixture.wait("the announcement") {
                $0.announcement?.elapsed ?? 0 > 0.1 && $0.announcement?.duration != nil
            }
            return fixture
        }

        @Test func `The position of held music stands still, and is what a restart gives back`() async throws {
            let fixture = try await announcing()
            let first = try #require(await fixture.player.status().elapsed)
            let later = try await fixture.wait("more of it") { $0.announcement?.elapsed ?? 0 > 1 }
            #expect(later.elapsed == first && later.timeControlStatus == .playing)
            #expect(later.announcement?.duration == 20 && later.announcement?.priority == 0)
            let stored = await fixture.journal.state
            #expect(stored.timeControlStatus == .playing && abs(stored.elapsed - first) < 0.5)
            let again = PlayerFixture(driver: .null, queue: await fixture.journal.queue, state: stored)
            let status = try await again.wait("the music") { $0.elapsed ?? 0 > first }
            #expect(status.announcement == nil && status.currentItem?.id == 1)
        }

        @Test func `Ducked music goes on`() async throws {
            let fixture = try await announcing(duck: 0.2)
            let first = try #require(await fixture.player.status().elapsed)
            let later = try await fixture.wait("more of both") { $0.announcement?.elapsed ?? 0 > 1 }
            #expect(try #require(later.elapsed) > first)
        }

        @Test func `A pause is one of the music, and lasts when the announcement is over`() async throws {
            let fixture = try await announcing(seconds: 1)
            let paused = await fixture.player.pause()
            #expect(paused.timeControlStatus == .paused && paused.announcement != nil)
            let after = try await fixture.wait("its end") { $0.announcement == nil }
            #expect(after.timeControlStatus == .paused && after.elapsed == paused.elapsed)
            _ = try await fixture.player.interrupt(with: media.path("voice.wav"))
            let again = try await fixture.wait("its end") { $0.announcement == nil }
            #expect(again.timeControlStatus == .paused && again.elapsed == paused.elapsed)
            let position = try #require(paused.elapsed)
            let goesOn = try await fixture.player.play()
            #expect(abs(try #require(goesOn.elapsed) - position) < 0.2)
            try await fixture.wait("the music") { $0.elapsed ?? 0 > position + 0.2 }
        }

        @Test(arguments: [nil, 0.3])
        func `Next and seek are about the music, and the announcement is heard to its end`(duck: Double?) async throws {
            let fixture = try await announcing(seconds: 1.2, duck: duck)
            let sought = try await fixture.player.seek(to: 20)
            #expect(abs(try #require(sought.elapsed) - 20) < 0.1 && sought.announcement != nil)
            let next = try await fixture.player.next()
            #expect(next.currentItem?.id == 2 && next.elapsed ?? 9 < 0.2 && next.announcement != nil)
            let heard = try #require(next.announcement?.elapsed)
            #expect(heard > 0.1)
            let ended = try await fixture.wait("its end") { $0.announcement == nil }
            #expect(ended.timeControlStatus == .playing && ended.currentItem?.id == 2)
            if duck == nil { #expect(ended.elapsed ?? 9 < 0.5) }
            try await fixture.wait("the music") { $0.elapsed ?? 0 > 0.3 }
        }

        @Test func `At the end of the queue it is heard to its end`() async throws {
            let fixture = try await announcing(seconds: 1.2)
            _ = try await fixture.player.next()
            let stopped = try await fixture.player.next()
            #expect(stopped.timeControlStatus == .stopped && stopped.announcement != nil)
            let heard = try #require(stopped.announcement?.elapsed)
            #expect(heard > 0.1)
            try await fixture.wait("its end") { $0.announcement == nil }
            #expect(await fixture.player.status().timeControlStatus == .stopped)
        }

        @Test func `Stop is silence: the announcement and those behind it are dropped`() async throws {
            let fixture = try await announcing()
            _ = try await fixture.player.interrupt(with: media.path("voice.wav"))
            let status = await fixture.player.stop()
            #expect(status.timeControlStatus == .stopped && status.announcement == nil && status.announcements == nil)
            _ = try await fixture.player.play()
            try await fixture.wait("the music") { $0.elapsed ?? 0 > 0.2 }
        }

        @Test func `A file on a disk that does not answer is skipped, and holds up neither the music nor the next one`()
            async throws
        {
            let source = media.path("source")
            try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
            let disk = try await SlowDisk(source, at: media.path("disk"))
            let fixture = try await announcing(seconds: 1)
            try await fixture.wait("its end") { $0.announcement == nil }
            _ = try media.level("source/long.wav", 7_000, frames: 20 * 44_100)
            let path = disk.path + "/long.wav"
            try await disk.hold()
            let began = try #require(await fixture.player.interrupt(with: path).elapsed)
            try await disk.isWaitedFor()
            _ = try await fixture.player.interrupt(with: media.path("voice.wav"))
            let skipped = try await fixture.wait("the next one") {
                $0.lastError != nil && $0.announcement?.path != path
            }
            #expect(skipped.lastError?.path == path && skipped.lastError?.reason == "the file does not answer")
            #expect(skipped.elapsed ?? 0 > began + 2.5, "the music went on")
            try await fixture.wait("its end") { $0.announcement == nil }
            // And one whose disk stops in the middle.
            try disk.go()
            _ = try await fixture.player.interrupt(with: path)
            try await fixture.wait("the announcement") { $0.announcement?.elapsed != nil }
            try await disk.hold()
            let stuck = try await fixture.wait("the music") { $0.announcement == nil }
            #expect(stuck.timeControlStatus == .playing && stuck.underruns == 1)
            let position = try #require(stuck.elapsed)
            try await fixture.wait("the music") { $0.elapsed ?? 0 > position }
            try disk.go()
            try await fixture.shutDown()
        }

        @Test func `A stopped sound server holds no command up, and what was not heard is heard afterwards`()
            async throws
        {
            let server = try await SoundServer()
            let fixture = try await announcing(.live("pulse"))
            let position = try #require(await fixture.player.status().elapsed)
            server.send(SIGSTOP)
            let stalled = try await fixture.wait("waiting") { $0.timeControlStatus == .waiting }
            let heard = try #require(stalled.announcement).elapsed ?? 0
            #expect(abs(try #require(stalled.elapsed) - position) < 0.4)
            let began = ContinuousClock.now
            _ = try await fixture.player.interrupt(with: media.path("voice.wav"))
            #expect(ContinuousClock.now - began < .seconds(1))
            server.send(SIGCONT)
            let back = try await fixture.wait("the sound", limit: .seconds(30)) {
                $0.timeControlStatus == .playing && $0.announcement?.elapsed ?? 0 > heard + 0.5
            }
            #expect(back.announcement?.elapsed ?? 99 < heard + 4 && back.announcements == 1)
            #expect(abs(try #require(back.elapsed) - position) < 0.4)
            try await fixture.shutDown()
            server.end()
        }

        @Test(arguments: [true, false])
        func `A killed sound server is waited for, with music and without`(isPlaying: Bool) async throws {
            let server = try await SoundServer()
            let fixture = try await announcing(.live("pulse"))
            if !isPlaying { _ = await fixture.player.pause() }
            let before = await fixture.player.status()
            server.end()
            try await fixture.wait("the loss") { $0.interruptions == 1 }
            let next = try await SoundServer()
            let heard = before.announcement?.elapsed ?? 0
            // Paused, nothing but the beginning of an announcement is an event.
            let back = try await fixture.wait("the sound", limit: .seconds(30)) {
                $0.announcement?.elapsed ?? 0 > heard && $0.device == "default device"
            }
            #expect(back.announcement?.elapsed ?? 99 < heard + 4)
            #expect(abs(try #require(back.elapsed) - (before.elapsed ?? 0)) < 0.4)
            #expect(back.timeControlStatus == (isPlaying ? .playing : .paused))
            try await fixture.shutDown()
            next.end()
        }
    }
}
