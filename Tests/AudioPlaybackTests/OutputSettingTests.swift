import AudioPlayback
import BackgrounderAPI
import TestSupport
import Testing

extension Playback {
    /// A sound output that is disabled.
    @Suite(.serialized) struct OutputSettingTests {
        let media: Media

        init() throws {
            media = try Media()
        }

        private func music() throws -> [String] {
            try ["a.wav", "b.wav"].map { try media.level($0, 3_000, frames: 30 * 44_100) }
        }

        @Test func `disabling the output pauses the music and drops announcements`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let voice = try media.level("voice.wav", 9_000, frames: 20 * 44_100)
            _ = try await fixture.player.play(paths: music())
            try await fixture.wait("the music") { $0.elapsed ?? 0 > 0.1 }
            _ = try await fixture.player.interrupt(with: voice)
            try await fixture.wait("the announcement") { $0.announcement?.elapsed ?? 0 > 0.1 }
            let status = try await fixture.player.setOptions(outputEnabled: false)
            #expect(!status.outputEnabled)
            #expect(status.timeControlStatus == .paused)
            #expect(status.announcement == nil)
            let position = try #require(status.elapsed)
            #expect(position > 0.1)
            try await fixture.wait("a closed device") { $0.format == nil }
            await #expect(throws: PlayerError.outputDisabled) { _ = try await fixture.player.interrupt(with: voice) }
            #expect(await fixture.player.status().elapsed == position)
            #expect(await fixture.journal.state.timeControlStatus == .paused)
            #expect(await fixture.journal.state.options.outputEnabled == false)
        }

        @Test func `no command makes a disabled output sound, and enabling it does not start the music`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let player = fixture.player
            let ids = try await player.append(music()).map(\.id)
            _ = try await player.setOptions(outputEnabled: false)
            let commands: [@Sendable () async throws -> AudioStatus] = [
                { try await player.play() }, { try await player.toggle() }, { try await player.play(id: ids[1]) },
                { try await player.previous() }, { try await player.next() },
                { try await player.seek(id: ids[0], to: 5) }, { try await player.seek(by: 2) },
            ]
            for command in commands { #expect(try await command().timeControlStatus == .paused) }
            await player.suspend()
            await player.resume()
            let paused = await player.status()
            #expect(paused.timeControlStatus == .paused)
            #expect(paused.elapsed == 7)
            #expect(paused.format == nil)
            #expect(try await player.setOptions(outputEnabled: true).timeControlStatus == .paused)
            _ = try await player.play()
            try await fixture.wait("the music") { $0.timeControlStatus == .playing && $0.elapsed ?? 0 > 7.1 }
        }

        @Test func `a disabled output stays disabled after a restart`() async throws {
            let first = PlayerFixture(driver: .null)
            _ = try await first.player.play(paths: music())
            _ = try await first.player.setOptions(outputEnabled: false)
            let again = PlayerFixture(
                driver: .null,
                queue: await first.journal.queue,
                state: await first.journal.state
            )
            let status = try await again.player.play()
            #expect(!status.outputEnabled)
            #expect(status.timeControlStatus == .paused)
        }
    }
}
