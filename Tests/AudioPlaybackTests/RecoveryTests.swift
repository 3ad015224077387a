import AudioPlayback
import BackgrounderAPI
import Foundation
import TestSupport
import Testing

extension Playback {
    /// Numbers out of range, commands before the start, a full store or disk: the player continues or reports why not.
    @Suite(.serialized) struct RecoveryTests {
        let media: Media

        init() throws { media = try Media() }

        @Test func `an impossible seek is refused, and a seek past an unknown end ends the item`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let paths = [try await media.wav("a.wav", seconds: 20), try await media.wav("b.wav", seconds: 20)]
            _ = try await fixture.player.play(paths: paths)
            for seconds in [1e300, 1e15, 1e7 + 1, .infinity] {
                await #expect(throws: PlayerError.invalidTime(seconds)) { try await fixture.player.seek(to: seconds) }
                await #expect(throws: PlayerError.invalidTime(seconds)) { try await fixture.player.seek(by: seconds) }
            }
            _ = try await fixture.player.seek(by: -1e300)
            _ = try await fixture.player.seek(id: 1, to: 1e7)
            try await fixture.wait("the second") { $0.currentItem?.id == 2 && $0.elapsed ?? 0 > 0.2 }
        }

        @Test(arguments: [1e300, .infinity, .nan, -1])
        func `an impossible stored position does not crash the player`(elapsed: Double) async throws {
            let path = try await media.wav("a.wav", seconds: 0.5)
            let fixture = PlayerFixture(
                driver: .null,
                queue: [PlayerItem(id: 1, position: 0, path: path)],
                state: PlayerState(timeControlStatus: .playing, currentItemID: 1, elapsed: elapsed)
            )
            try await fixture.wait("the end") { $0.timeControlStatus == .stopped && $0.currentItem == nil }
            try await fixture.shutDown()
        }

        @Test func `playback from before the service runs is not repeated when it starts`() async throws {
            let output = media.path("out.wav")
            let path = try await media.wav("a.wav", seconds: 30)
            let fixture = PlayerFixture(driver: .wav(output), startsAtOnce: false)
            _ = try await fixture.player.play(paths: [path])
            let full = (try await media.sox(path)).count * 2
            try await fixture.wait("some sound") { _ in size(output) > full / 10 }
            fixture.start()
            try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            #expect(try media.rendered(output) == (try await media.sox(path)))
        }

        private func size(_ path: String) -> Int {
            (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        }

        @Test func `a queue is loaded in one write, without paths that cannot be added`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let paths = [try await media.wav("a.wav", seconds: 20), try await media.wav("b.wav", seconds: 20)]
            await fixture.player.load([paths[0], "/nowhere.mp3", paths[1]], play: true)
            let first = try #require(await fixture.journal.writes.first)
            #expect(first.queue?.map(\.path) == paths)
            #expect(first.state.timeControlStatus == .playing)
            #expect(first.state.currentItemID == 1)
            let status = await fixture.player.status()
            #expect(status.timeControlStatus == .playing)
            #expect(status.currentItem?.id == 1)
        }

        @Test func `a queue that is loaded without playing is stopped, and loading nothing writes nothing`()
            async throws
        {
            let fixture = PlayerFixture(driver: .null)
            await fixture.player.load(["/nowhere.mp3"], play: true)
            #expect(await fixture.journal.writes.isEmpty)
            await fixture.player.load([try await media.wav("a.wav")], play: false)
            #expect(await fixture.player.status().timeControlStatus == .stopped)
            #expect(await fixture.journal.queue.count == 1)
        }

        @Test func `a failed write is retried without another command`() async throws {
            let fixture = PlayerFixture(driver: .null)
            // The command's first write probes the journal; after that, more writes fail than it attempts.
            await fixture.journal.refuse(4, after: 1)
            await #expect(throws: PlayerError.notStored(reason: "DiskFull()", isInEffect: true)) {
                try await fixture.player.setOptions(volume: 40)
            }
            #expect(await fixture.journal.state.options.volume != 40)
            try await fixture.wait("the write") { _ in await fixture.journal.state.options.volume == 40 }
        }

        @Test func `the service ends with its output file complete, even if a write hangs`() async throws {
            let output = media.path("out.wav")
            let path = try await media.wav("a.wav", seconds: 1)
            let fixture = PlayerFixture(driver: .wav(output))
            _ = try await fixture.player.append([path, path])
            try await fixture.waitForDescriptions()
            _ = try await fixture.player.setOptions(actionAtItemEnd: .pause)
            _ = try await fixture.player.play()
            try await fixture.wait("the pause") { $0.timeControlStatus == .paused && $0.currentItem?.id == 2 }
            let gate = await fixture.journal.hold()
            let began = ContinuousClock.now
            try await fixture.shutDown()
            #expect(ContinuousClock.now - began < .seconds(10))
            #expect(try media.rendered(output) == (try await media.sox(path)))
            gate.open()
        }

        @Test func `the service ends within its limit if a write hangs while it plays`() async throws {
            let path = try await media.wav("a.wav", seconds: 1)
            let fixture = PlayerFixture(driver: .null)
            _ = try await fixture.player.append([path, path])
            try await fixture.waitForDescriptions()
            let gate = await fixture.journal.hold()
            // The change to the second item is stored while it plays.
            async let start: Void = { _ = try? await fixture.player.play() }()
            await gate.reached()
            let began = ContinuousClock.now
            try await fixture.shutDown()
            #expect(ContinuousClock.now - began < .seconds(10))
            gate.open()
            await start
        }

        @Test(.timeLimit(.minutes(1))) func `the service ends as soon as the device is closed`() async throws {
            // The deadline for a device that hangs never comes on this clock.
            let fixture = PlayerFixture(driver: .null, clock: VirtualClock())
            _ = try await fixture.player.play(paths: [try await media.wav("a.wav", seconds: 20)])
            try await fixture.wait("some progress") { $0.elapsed ?? 0 > 0.2 }
            try await fixture.shutDown()
            #expect(await fixture.journal.state.timeControlStatus == .playing)
        }

        @Test func `a reader sees only changes that have been written`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let path = try await media.wav("a.wav", seconds: 20)
            // Not the command's first write, which probes the journal.
            let gate = await fixture.journal.hold(after: 1)
            async let added = fixture.player.append([path])
            await gate.reached()
            let reader = Task { (seen: await fixture.player.queue(), stored: await fixture.journal.queue) }
            // These calls wait for nothing, so the reader gets its turn between them.
            for _ in 0..<200 { _ = await fixture.player.addPeriodicTimeObserver(forInterval: .seconds(1)) }
            gate.open()
            let (seen, stored) = await reader.value
            #expect(try await seen.map(\.id) == added.map(\.id))
            #expect(stored.map(\.id) == seen.map(\.id))
        }

        @Test func `a folder that contains itself is read once`() async throws {
            let path = try await media.wav("a.wav", seconds: 0.1)
            for name in ["again", "and again"] {
                try FileManager.default.createSymbolicLink(
                    atPath: media.path(name),
                    withDestinationPath: media.scratch.path
                )
            }
            let fixture = PlayerFixture(driver: .null)
            #expect(try await fixture.player.append([media.scratch.path]).map(\.path) == [path])
        }

        @Test func `more files than a queue can hold are refused`() async throws {
            for number in 0..<1_000 { try media.scratch.write("", to: "\(number).mp3") }
            let fixture = PlayerFixture(driver: .null)
            let folder = media.scratch.path
            await #expect {
                try await fixture.player.append(Array(repeating: folder, count: 101))
            } throws: {
                "\($0)".contains("more than 100000 files")
            }
            #expect(await fixture.player.queue().isEmpty)
        }

        @Test func `a full disk stops the player with an error`() async throws {
            let output = media.path("out.raw")
            try FileManager.default.createSymbolicLink(atPath: output, withDestinationPath: "/dev/full")
            let fixture = PlayerFixture(driver: .raw(output))
            _ = try await fixture.player.play(paths: [try await media.wav("a.wav", seconds: 20)])
            let status = try await fixture.wait("the stop") { $0.timeControlStatus == .stopped }
            #expect(status.lastError?.path == output)
            #expect(status.lastError?.reason == "No space left on device")
            #expect(status.currentItem?.id == 1)
            #expect(status.interruptions == 0)
            #expect(!FileManager.default.fileExists(atPath: output + "-2"))
            #expect(await fixture.journal.state.timeControlStatus == .stopped)
        }

        @Test func `a repeating item of a few frames is not opened in a busy loop`() async throws {
            let path = try await media.wav("click.wav", seconds: 0.001)
            let openings = try Openings(of: path)
            let fixture = PlayerFixture(driver: .null, state: PlayerState(options: PlayerOptions(repeat: true)))
            _ = try await fixture.player.play(paths: [path])
            let began = ContinuousClock.now
            try await openings.wait(for: 70)
            let took = ContinuousClock.now - began
            #expect(took > .milliseconds(700), "\(took)")
        }
    }
}
