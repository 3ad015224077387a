import AudioPlayback
import BackgrounderAPI
import Foundation
import TestSupport
import Testing

extension Playback {
    /// Seeks to another item, as MPD's clients ask for.
    @Suite(.serialized) struct SeekTests {
        let media: Media

        init() throws { media = try Media() }

        @Test func `a seek to another item while paused sounds only after play`() async throws {
            let output = media.path("out.wav")
            let paths = [try await media.wav("a.wav", seconds: 1), try await media.wav("b.wav", frequency: 700)]
            let fixture = PlayerFixture(driver: .wav(output))
            _ = try await fixture.player.append([paths[0], paths[0], paths[1]])
            try await fixture.waitForDescriptions()
            _ = try await fixture.player.setOptions(actionAtItemEnd: .pause)
            _ = try await fixture.player.play()
            try await fixture.wait("the pause") { $0.timeControlStatus == .paused && $0.currentItem?.id == 2 }
            let before = await fixture.journal.writes.count
            let status = try await fixture.player.seek(id: 3, to: 0.5)
            #expect(status.timeControlStatus == .paused)
            #expect(status.currentItem?.id == 3)
            #expect(status.elapsed == 0.5)
            let states = await fixture.journal.writes.dropFirst(before).map(\.state)
            #expect(!states.isEmpty)
            #expect(states.allSatisfy { $0.timeControlStatus == .paused })
            _ = try await fixture.player.play()
            try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            let rest = try await media.sox(paths[1]).dropFirst(44_100)
            #expect(try media.rendered(output) == (try await media.sox(paths[0])) + rest)
        }

        @Test func `a seek to another item starts a stopped player, and keeps a playing one playing`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let path = try await media.wav("a.wav", seconds: 20)
            _ = try await fixture.player.append([path, path, path])
            try await fixture.waitForDescriptions()
            var status = try await fixture.player.seek(id: 2, to: 5)
            #expect(status.timeControlStatus == .playing)
            #expect(status.currentItem?.id == 2)
            #expect(abs(try #require(status.elapsed) - 5) < 0.5)
            status = try await fixture.player.seek(id: 1, to: 7)
            #expect(status.timeControlStatus == .playing)
            #expect(status.currentItem?.id == 1)
            #expect(abs(try #require(status.elapsed) - 7) < 0.5)
            await #expect(throws: PlayerError.noSuchItem(id: 9)) { try await fixture.player.seek(id: 9, to: 1) }
            await #expect(throws: PlayerError.invalidTime(-1)) { try await fixture.player.seek(id: 2, to: -1) }
            #expect(await fixture.player.status().currentItem?.id == 1)
        }

        @Test func `a seek past the end of another item goes to the item after it, paused if the player was`()
            async throws
        {
            let fixture = PlayerFixture(driver: .null)
            let path = try await media.wav("a.wav", seconds: 20)
            _ = try await fixture.player.append([path, path, path])
            try await fixture.waitForDescriptions()
            _ = try await fixture.player.play()
            _ = await fixture.player.pause()
            let status = try await fixture.player.seek(id: 2, to: 20)
            #expect(status.timeControlStatus == .paused)
            #expect(status.currentItem?.id == 3)
            #expect(status.elapsed == 0)
        }
    }
}
