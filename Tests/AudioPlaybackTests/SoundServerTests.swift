import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import AudioPlayback

extension Playback {
    /// Playback to a real sound server that works, stops, dies or is missing.
    @Suite(.serialized) struct SoundServerTests {
        let media: Media

        init() throws {
            media = try Media()
            SoundServer.announce()
        }

        /// Returns how long a command takes.
        private func time(_ body: () async throws -> Void) async rethrows -> Duration {
            let began = ContinuousClock.now
            try await body()
            return ContinuousClock.now - began
        }

        @Test func `the sink gets the samples of the files in real time, without an underrun`() async throws {
            let server = try await SoundServer()
            let recording = media.path("recording.raw")
            try await server.record(to: recording)
            let paths = [
                try await media.wav("a.wav", seconds: 2.5), try await media.wav("b.wav", seconds: 2, frequency: 700),
            ]
            let fixture = PlayerFixture(driver: .live("pulse"))
            _ = try await fixture.player.play(paths: paths)
            // A null sink takes its first block late; the pace counts from there.
            try await fixture.wait("the beginning") { $0.elapsed ?? 0 > 0.3 }
            let (first, began) = (try #require(await fixture.player.status().elapsed), ContinuousClock.now)
            try await fixture.wait("the second item") { $0.currentItem?.id == 2 && $0.elapsed ?? 0 > 1 }
            let second = try #require(await fixture.player.status().elapsed) + 2.5
            let took = ContinuousClock.now - began
            #expect(
                abs((second - first) - Double(took.components.seconds) - Double(took.components.attoseconds) * 1e-18)
                    < 0.25
            )
            let status = try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            #expect(status.underruns == 0)
            #expect(status.interruptions == 0)
            #expect(status.driver == "pulse")
            try await fixture.shutDown()
            try await server.stopRecording(recording)
            let samples = try [UInt8](Data(contentsOf: URL(fileURLWithPath: recording)))
                .withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
            let source = try await media.sox(paths[0]) + (try await media.sox(paths[1]))
            let start = try #require(find(Array(source[60_000..<60_400]), in: samples)) - 60_000
            let heard = Array(samples.dropFirst(max(0, start)).prefix(source.count))
            try #require(heard.count == source.count, "\(heard.count) of \(source.count)")
            // The monitor misses the first milliseconds: the null sink had already rendered silence for them.
            #expect(heard.dropFirst(30_000) == source.dropFirst(30_000))
        }

        private func find(_ part: [Int16], in whole: [Int16]) -> Int? {
            guard let first = part.first else { return nil }
            return whole.indices.first { index in
                whole[index] == first && index + part.count <= whole.count
                    && zip(whole[index..<index + part.count], part).allSatisfy { $0 == $1 }
            }
        }

        @Test func `an item shorter than the buffer is heard`() async throws {
            let server = try await SoundServer()
            let recording = media.path("recording.raw")
            try await server.record(to: recording)
            let path = try await media.wav("short.wav", seconds: 0.25)
            let fixture = PlayerFixture(driver: .live("pulse"))
            _ = try await fixture.player.play(paths: [path])
            try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            try await fixture.shutDown()
            try await server.stopRecording(recording)
            let samples = try [UInt8](Data(contentsOf: URL(fileURLWithPath: recording)))
                .withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
            let source = try await media.sox(path)
            #expect(find(Array(source[20_000..<20_400]), in: samples) != nil)
        }

        @Test func `a stopped server delays no command, and the sound resumes when it continues`() async throws {
            let server = try await SoundServer()
            let fixture = PlayerFixture(driver: .live("pulse"))
            _ = try await fixture.player.play(paths: [try await media.wav("a.wav", seconds: 60)])
            try await fixture.wait("the beginning") { $0.elapsed ?? 0 > 0.5 }
            server.send(SIGSTOP)
            let stalled = try await fixture.wait("waiting") { $0.timeControlStatus == .waiting }
            #expect(stalled.interruptions == 1)
            #expect(stalled.lastError?.reason.contains("does not answer") == true)
            let position = try #require(stalled.elapsed)
            let player = fixture.player
            #expect(try await time { _ = try await player.seek(to: 20) } < .seconds(1))
            #expect(await time { _ = await player.pause() } < .seconds(1))
            #expect(try await time { _ = try await player.play() } < .seconds(1))
            #expect(try await time { _ = try await player.previous() } < .seconds(1))
            #expect(try await time { _ = try await player.seek(to: position) } < .seconds(1))
            #expect(await time { _ = await player.status() } < .seconds(1))
            server.send(SIGCONT)
            let back = try await fixture.wait("the sound", limit: .seconds(30)) { status in
                status.timeControlStatus == .playing && status.elapsed ?? 0 > position + 0.5
            }
            #expect(try #require(back.elapsed) < position + 3)
        }

        @Test func `a stopped server does not delay the shutdown`() async throws {
            let server = try await SoundServer()
            let fixture = PlayerFixture(driver: .live("pulse"))
            _ = try await fixture.player.play(paths: [try await media.wav("a.wav", seconds: 60)])
            try await fixture.wait("the beginning") { $0.elapsed ?? 0 > 0.5 }
            server.send(SIGSTOP)
            #expect(try await time { try await fixture.shutDown() } < .seconds(3))
            #expect(await fixture.journal.state.timeControlStatus == .playing)
            server.end()
        }

        @Test func `a pause while the device does not open keeps the position`() async throws {
            var server: SilentServer? = try SilentServer()
            let fixture = PlayerFixture(driver: .live("pulse"))
            _ = try await fixture.player.play(paths: [try await media.wav("a.wav", seconds: 60)])
            _ = try await fixture.player.seek(to: 20)
            try await server?.connected()
            _ = await fixture.player.pause()
            server = nil
            let failed = try await fixture.wait("the failure") { $0.lastError != nil }
            #expect(failed.timeControlStatus == .paused)
            #expect(failed.elapsed == 20)
            #expect(try await fixture.player.play().elapsed == 20)
            let next = try await SoundServer()
            let back = try await fixture.wait("the sound", limit: .seconds(30)) { $0.elapsed ?? 0 > 20.2 }
            #expect(try #require(back.elapsed) < 23)
            next.end()
        }

        @Test func `repeated queries of a server that never answers take little time and no more threads`()
            async throws
        {
            let server = try SilentServer()
            let fixture = PlayerFixture(driver: .null)
            func threads() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
            }
            #expect(await fixture.player.drivers().first { $0.name == "pulse" }?.available == false)
            let before = try threads()
            for _ in 0..<20 {
                #expect(await time { _ = await fixture.player.drivers() } < .seconds(2))
            }
            #expect(try threads() < before + 10)
            withExtendedLifetime(server) {}
        }

        @Test func `after a server was killed, the sound resumes at its position on the next one`() async throws {
            let server = try await SoundServer()
            let fixture = PlayerFixture(driver: .live("pulse"))
            _ = try await fixture.player.play(paths: [try await media.wav("a.wav", seconds: 60)])
            try await fixture.wait("the beginning") { $0.elapsed ?? 0 > 1 }
            server.end()
            let lost = try await fixture.wait("waiting") { $0.timeControlStatus == .waiting }
            let position = try #require(lost.elapsed)
            #expect(position > 0.6)
            #expect(position < 2)
            let next = try await SoundServer()
            let back = try await fixture.wait("the sound", limit: .seconds(30)) {
                $0.timeControlStatus == .playing && $0.elapsed ?? 0 > position + 0.3
            }
            #expect(try #require(back.elapsed) < position + 3)
            #expect(back.interruptions == 1)
            try await fixture.shutDown()
            next.end()
        }

        @Test func `the server's sinks are listed and can be chosen by name`() async throws {
            let server = try await SoundServer()
            let fixture = PlayerFixture(driver: .live("pulse", device: "silent"))
            let pulse = try #require(await fixture.player.drivers().first { $0.name == "pulse" })
            #expect(pulse.available)
            #expect(pulse.devices?.map(\.name) == ["silent"])
            #expect(pulse.devices?.first?.isDefault == true)
            _ = try await fixture.player.play(paths: [try await media.wav("a.wav", seconds: 3)])
            let status = try await fixture.wait("sound") { $0.elapsed ?? 0 > 0.3 }
            #expect(status.device == "silent")
            #expect(status.format == "44100:16:2")
            #expect(status.buffered > 0.1)
            try await fixture.shutDown()

            let lost = PlayerFixture(driver: .live("pulse", device: "no-such-sink"))
            _ = try await lost.player.play(paths: [try await media.wav("b.wav", seconds: 3)])
            let waiting = try await lost.wait("the failure") { $0.timeControlStatus == .waiting }
            #expect(waiting.lastError?.reason.hasPrefix("pulse: ") == true, "\(waiting)")
            try await lost.shutDown()
            server.end()
        }

        @Test func `auto waits for a lost server and does not continue in silence`() async throws {
            let server = try await SoundServer()
            let fixture = PlayerFixture(driver: .auto)
            _ = try await fixture.player.play(paths: [try await media.wav("a.wav", seconds: 60)])
            try await fixture.wait("the beginning") { $0.driver == "pulse" && $0.elapsed ?? 0 > 1 }
            server.end()
            let lost = try await fixture.wait("waiting") { $0.timeControlStatus == .waiting }
            let position = try #require(lost.elapsed)
            // Longer than auto takes to choose silence when no device has been heard.
            try await fixture.wait("many attempts", limit: .seconds(30)) { _ in
                await fixture.player.recovery.attempts > 5
            }
            #expect(await fixture.player.status().elapsed == position)
            let next = try await SoundServer()
            let back = try await fixture.wait("the sound", limit: .seconds(30)) { $0.elapsed ?? 0 > position + 0.3 }
            #expect(back.driver == "pulse")
            #expect(back.timeControlStatus == .playing)
            try await fixture.shutDown()
            next.end()
        }

        @Test func `without a server auto plays in silence, reports it, and switches when one appears`() async throws {
            let paths = [
                try await media.wav("a.wav", seconds: 3), try await media.wav("b.wav", seconds: 3, frequency: 700),
            ]
            let fixture = PlayerFixture(driver: .auto, state: PlayerState(options: PlayerOptions(repeat: true)))
            _ = try await fixture.player.play(paths: paths)
            let silent = try await fixture.wait("silence") { $0.elapsed ?? 0 > 0.3 }
            #expect(silent.timeControlStatus == .playing)
            #expect(silent.driver == "null")
            #expect(silent.device?.contains("pulse") == true, "\(silent.device ?? "-")")
            let server = try await SoundServer()
            let status = try await fixture.wait("the move", limit: .seconds(30)) { $0.driver != "null" }
            #expect(status.driver == "pulse")
            #expect(status.interruptions == 0)
            let drivers = await fixture.player.drivers()
            #expect(drivers.first { $0.name == "pulse" }?.available == true)
            try await fixture.shutDown()
            server.end()
        }
    }
}
