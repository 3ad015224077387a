import AudioPlayback
import BackgrounderAPI
import Foundation
import TestSupport
import Testing

extension Playback {
    /// Commands, device losses and restarts during an announcement.
    @Suite(.serialized) struct AnnouncementCommandTests {
        let media: Media

        init() throws {
            media = try Media()
            SoundServer.announce()
        }

        /// Starts music and an announcement over it, and returns when the announcement has begun.
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

        @Test func `held music keeps its position during an announcement and after a restart`() async throws {
            let fixture = try await announcing()
            let first = try #require(await fixture.player.status().elapsed)
            let later = try await fixture.wait("more of the announcement") { $0.announcement?.elapsed ?? 0 > 1 }
            #expect(later.elapsed == first)
            #expect(later.timeControlStatus == .playing)
            #expect(later.announcement?.duration == 20)
            #expect(later.announcement?.priority == 0)
            let stored = await fixture.journal.state
            #expect(stored.timeControlStatus == .playing)
            #expect(abs(stored.elapsed - first) < 0.5)
            let again = PlayerFixture(driver: .null, queue: await fixture.journal.queue, state: stored)
            let status = try await again.wait("the music") { $0.elapsed ?? 0 > first }
            #expect(status.announcement == nil)
            #expect(status.currentItem?.id == 1)
        }

        @Test func `ducked music keeps playing`() async throws {
            let fixture = try await announcing(duck: 0.2)
            let first = try #require(await fixture.player.status().elapsed)
            let later = try await fixture.wait("more of both") { $0.announcement?.elapsed ?? 0 > 1 }
            #expect(try #require(later.elapsed) > first)
        }

        @Test func `a pause affects only the music and outlasts the announcement`() async throws {
            let fixture = try await announcing(seconds: 1)
            let paused = await fixture.player.pause()
            #expect(paused.timeControlStatus == .paused)
            #expect(paused.announcement != nil)
            let after = try await fixture.wait("the end of the announcement") { $0.announcement == nil }
            #expect(after.timeControlStatus == .paused)
            #expect(after.elapsed == paused.elapsed)
            _ = try await fixture.player.interrupt(with: media.path("voice.wav"))
            let again = try await fixture.wait("the end of the announcement") { $0.announcement == nil }
            #expect(again.timeControlStatus == .paused)
            #expect(again.elapsed == paused.elapsed)
            let position = try #require(paused.elapsed)
            let resumed = try await fixture.player.play()
            #expect(abs(try #require(resumed.elapsed) - position) < 0.2)
            try await fixture.wait("the music") { $0.elapsed ?? 0 > position + 0.2 }
        }

        @Test(arguments: [nil, 0.3])
        func `next and seek affect only the music, not the announcement`(duck: Double?) async throws {
            let fixture = try await announcing(seconds: 1.2, duck: duck)
            let sought = try await fixture.player.seek(to: 20)
            #expect(abs(try #require(sought.elapsed) - 20) < 0.1)
            #expect(sought.announcement != nil)
            let next = try await fixture.player.next()
            #expect(next.currentItem?.id == 2)
            #expect(next.elapsed ?? 9 < 0.2)
            #expect(next.announcement != nil)
            let heard = try #require(next.announcement?.elapsed)
            #expect(heard > 0.1)
            let ended = try await fixture.wait("the end of the announcement") { $0.announcement == nil }
            #expect(ended.timeControlStatus == .playing)
            #expect(ended.currentItem?.id == 2)
            if duck == nil { #expect(ended.elapsed ?? 9 < 0.5) }
            try await fixture.wait("the music") { $0.elapsed ?? 0 > 0.3 }
        }

        @Test func `an announcement is still heard to its end when the queue ends`() async throws {
            let fixture = try await announcing(seconds: 1.2)
            _ = try await fixture.player.next()
            let stopped = try await fixture.player.next()
            #expect(stopped.timeControlStatus == .stopped)
            #expect(stopped.announcement != nil)
            let heard = try #require(stopped.announcement?.elapsed)
            #expect(heard > 0.1)
            try await fixture.wait("the end of the announcement") { $0.announcement == nil }
            #expect(await fixture.player.status().timeControlStatus == .stopped)
        }

        @Test func `stop drops the announcement and those that wait after it`() async throws {
            let fixture = try await announcing()
            _ = try await fixture.player.interrupt(with: media.path("voice.wav"))
            let status = await fixture.player.stop()
            #expect(status.timeControlStatus == .stopped)
            #expect(status.announcement == nil)
            #expect(status.announcements == nil)
            _ = try await fixture.player.play()
            try await fixture.wait("the music") { $0.elapsed ?? 0 > 0.2 }
        }

        @Test func `an announcement on a stalled disk is skipped and delays neither music nor the next one`()
            async throws
        {
            let source = media.path("source")
            try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
            let disk = try await SlowDisk(source, at: media.path("disk"))
            let fixture = try await announcing(seconds: 1)
            try await fixture.wait("the end of the announcement") { $0.announcement == nil }
            _ = try media.level("source/long.wav", 7_000, frames: 20 * 44_100)
            let path = disk.path + "/long.wav"
            try await disk.hold()
            let began = try #require(await fixture.player.interrupt(with: path).elapsed)
            try await disk.isWaitedFor()
            _ = try await fixture.player.interrupt(with: media.path("voice.wav"))
            let skipped = try await fixture.wait("the next announcement") {
                $0.lastError != nil && $0.announcement?.path != path
            }
            #expect(skipped.lastError?.path == path)
            #expect(skipped.lastError?.reason == "the file does not answer")
            #expect(skipped.elapsed ?? 0 > began + 2.5, "the music continued")
            try await fixture.wait("the end of the announcement") { $0.announcement == nil }
            // An announcement whose disk stalls in the middle.
            try disk.go()
            _ = try await fixture.player.interrupt(with: path)
            try await fixture.wait("the announcement") { $0.announcement?.elapsed != nil }
            try await disk.hold()
            let stuck = try await fixture.wait("the music") { $0.announcement == nil }
            #expect(stuck.timeControlStatus == .playing)
            #expect(stuck.underruns == 1)
            let position = try #require(stuck.elapsed)
            try await fixture.wait("the music") { $0.elapsed ?? 0 > position }
            try disk.go()
            try await fixture.shutDown()
        }

        @Test func `a stopped sound server delays no command, and the announcement resumes when it continues`()
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
            #expect(back.announcement?.elapsed ?? 99 < heard + 4)
            #expect(back.announcements == 1)
            #expect(abs(try #require(back.elapsed) - position) < 0.4)
            try await fixture.shutDown()
            server.end()
        }

        @Test(arguments: [true, false])
        func `an announcement resumes on a new sound server after the old one died`(isPlaying: Bool) async throws {
            let server = try await SoundServer()
            let fixture = try await announcing(.live("pulse"))
            if !isPlaying { _ = await fixture.player.pause() }
            let before = await fixture.player.status()
            server.end()
            try await fixture.wait("the loss") { $0.interruptions == 1 }
            let next = try await SoundServer()
            let heard = before.announcement?.elapsed ?? 0
            // While paused, only the start of an announcement is an event.
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
