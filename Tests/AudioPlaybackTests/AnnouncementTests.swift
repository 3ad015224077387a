import BackgrounderAPI
import Foundation
import MediaFiles
import TestSupport
import Testing

@testable import AudioPlayback

extension Playback {
    /// The sound of announcements and of the music around them, sample for sample.
    @Suite(.serialized) struct AnnouncementTests {
        let media: Media

        init() throws { media = try Media() }

        /// Starts playing `seconds` of music into a FIFO; also returns the FIFO's reader and the samples of the music.
        private func music(
            seconds: Double = 30
        ) async throws -> (fixture: PlayerFixture, ear: SlowListener.Ear, samples: [Int16]) {
            let listener = try SlowListener(media.path("out.raw"))
            let path = try await media.wav("music.wav", seconds: seconds)
            let fixture = PlayerFixture(driver: .raw(listener.path))
            async let ear = listener.listen()
            _ = try await fixture.player.play(paths: [path])
            return (fixture, try await ear, try await media.sox(path))
        }

        /// Reads until an announcement has begun, and then to the end.
        private func hear(
            _ ear: SlowListener.Ear,
            _ fixture: PlayerFixture,
            after before: [Int16] = []
        ) async throws -> [Int16] {
            var heard = before
            // A short announcement may begin and end between two polls.
            while let announcement = await fixture.player.status().announcement, announcement.elapsed == nil {
                let more = await ear.read(4_096)
                try #require(more.count == 4_096, "the announcement begins before the music ends")
                heard += more
            }
            return heard + (await ear.rest())
        }

        /// Returns the index of the first difference.
        private func common(_ left: [Int16], _ right: [Int16]) -> Int {
            zip(left, right).enumerated().first { $1.0 != $1.1 }?.offset ?? min(left.count, right.count)
        }

        @Test func `held music resumes with the very next frame after the announcement`() async throws {
            let (fixture, ear, samples) = try await music()
            let jingle = try await media.wav("jingle.wav", seconds: 3.3, frequency: 900)
            let expected = try await media.sox(jingle)
            let before = await ear.read(50_000)
            let status = try await fixture.player.interrupt(with: jingle)
            #expect(status.announcement?.path == jingle)
            #expect(status.timeControlStatus == .playing)
            let heard = try await hear(ear, fixture, after: before)
            let place = common(heard, samples) / 2 * 2
            #expect(place >= 50_000)
            #expect(place < samples.count)
            #expect(heard == samples[..<place] + expected + samples[place...])
            let after = try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            #expect(after.announcement == nil)
            #expect(after.announcements == nil)
            #expect(after.lastError == nil)
        }

        @Test func `ducked music continues under the announcement, and no sample of either is lost`() async throws {
            let (fixture, ear, samples) = try await music()
            let jingle = try await media.wav("jingle.wav", seconds: 3, frequency: 900)
            let voice = try await media.sox(jingle)
            let before = await ear.read(50_000)
            #expect(try await fixture.player.interrupt(with: jingle, duck: 0.2).announcement?.duck == 0.2)
            let heard = try await hear(ear, fixture, after: before)
            try #require(heard.count == samples.count)
            let ramp = 44_100 / 20 * 2
            // The first frames may equal the music: the voice starts near zero, and the ramp near full level.
            let differs = common(heard, samples) / 2 * 2
            let places = (0...8).map { differs - 2 * $0 }
            let begin = places.first { place in
                (place + ramp..<place + voice.count).allSatisfy {
                    abs(Double(heard[$0]) - Double(samples[$0]) * 0.2 - Double(voice[$0 - place])) <= 0.75
                }
            }
            let place = try #require(begin, "no mix of ducked music and voice near \(differs)")
            #expect(heard[(place + voice.count + ramp)...] == samples[(place + voice.count + ramp)...])
            // On the ramp the level changes in steps too small to be heard as clicks.
            let steps = (place..<place + ramp).filter { abs(Int(samples[$0])) > 1_000 }
            #expect(
                steps.allSatisfy { index in
                    let level = Double(heard[index] - voice[index - place]) / Double(samples[index])
                    return abs(level - max(0.2, 1 - Double((index - place) / 2 + 1) * 20 / 44_100)) < 0.015
                }
            )
        }

        @Test(arguments: [30_000, -30_000] as [Int16])
        func `a mix that is too loud is clipped, and the volume applies to music and announcement`(level: Int16)
            async throws
        {
            let listener = try SlowListener(media.path("out.raw"))
            let fixture = PlayerFixture(
                driver: .raw(listener.path),
                state: PlayerState(options: PlayerOptions(volume: 50))
            )
            async let opened = listener.listen()
            _ = try await fixture.player.play(paths: [try media.level("loud.wav", level, frames: 2_000_000)])
            let ear = try await opened
            let before = await ear.read(50_000)
            let voice = try media.level("voice.wav", level, frames: 44_100)
            _ = try await fixture.player.interrupt(with: voice, duck: 1)
            let heard = try await hear(ear, fixture, after: before)
            let (alone, both) = (level / 8, level > 0 ? 4_096 : -4_096)
            #expect(heard.count == 4_000_000)
            #expect(heard.filter { abs(Int($0) - both) <= 1 }.count == 88_200)
            #expect(heard.filter { abs(Int($0) - Int(alone)) <= 1 }.count == 4_000_000 - 88_200)
        }

        @Test func `an announcement outlasts the music under it, and an item in another format waits for its end`()
            async throws
        {
            let listener = try SlowListener(media.path("out.raw"))
            let fixture = PlayerFixture(driver: .raw(listener.path))
            let paths = [
                try await media.wav("a.wav", seconds: 20), try await media.wav("b.wav", seconds: 1, rate: 48_000),
            ]
            async let opened = listener.listen()
            _ = try await fixture.player.play(paths: paths)
            let ear = try await opened
            let before = await ear.read(50_000)
            let jingle = try await media.wav("jingle.wav", seconds: 25, frequency: 900)
            let (music, voice) = (try await media.sox(paths[0]), try await media.sox(jingle))
            _ = try await fixture.player.interrupt(with: jingle, duck: 0.5)
            let heard = try await hear(ear, fixture, after: before)
            let place = common(heard, music) / 2 * 2
            #expect(heard.count == place + voice.count)
            #expect(heard[music.count...] == voice[(music.count - place)...])
            try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            let second = try [UInt8](Data(contentsOf: URL(fileURLWithPath: listener.path + "-2")))
            #expect(second.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) } == (try await media.sox(paths[1])))
            #expect(fixture.currentItems == [1, 2, nil])
        }

        @Test func `an announcement is decoded again when the device opens in another format`() async throws {
            let path = try await media.wav("voice.wav", seconds: 1, rate: 48_000)
            let (reports, reported) = AsyncStream.makeStream(of: Void.self)
            let pipeline = Pipeline(latency: .milliseconds(300), format: nil, gain: fullLevel) { reported.yield() }
            let announcer = Task { for await _ in reports { #expect(pipeline.startAnnouncerIfNeeded()) } }
            defer { announcer.cancel() }
            pipeline.announce(AnnouncementJob(token: 7, path: path, start: 0, music: .held), isFollowed: false)
            #expect(pipeline.startAnnouncerIfNeeded())
            let device = OpenDevice(
                kind: .file,
                driver: "raw",
                description: "",
                isFallback: false,
                format: try AudioFormat(rate: 44_100, channels: 1)
            )
            let frames = await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: Self.give(pipeline, on: device)) }
            }
            #expect(frames == 44_100)
            #expect(pipeline.takeAnnouncementReports().ended == 7)
            #expect(pipeline.announcement() == nil)
        }

        /// Acts as an output whose device has another format than requested, and returns the number of frames it gets.
        private static func give(_ pipeline: Pipeline, on device: OpenDevice) -> Int {
            guard case .open(let format, _) = pipeline.nextOrder(thread: 0, device: nil, into: nil),
                format.rate == 48_000,
                pipeline.opened(thread: 0, device)
            else { return -1 }
            let samples = UnsafeMutablePointer<Int16>.allocate(capacity: 44_100)
            defer { samples.deallocate() }
            var given = 0
            while case .play(let frames, _) = pipeline.nextOrder(thread: 0, device: device, into: samples) {
                given += frames
                _ = pipeline.played(thread: 0, frames: frames, buffer: 0, rate: 44_100)
            }
            return given
        }

        @Test(arguments: [(22_050, 1), (48_000, 2), (96_000, 1)])
        func `an announcement in another format is converted to the format of the music`(rate: Int, channels: Int)
            async throws
        {
            let (fixture, ear, samples) = try await music()
            let jingle = try await media.wav("jingle.wav", seconds: 1, rate: rate, channels: channels, frequency: 900)
            let before = await ear.read(50_000)
            _ = try await fixture.player.interrupt(with: jingle)
            let heard = try await hear(ear, fixture, after: before)
            let place = common(heard, samples) / 2 * 2
            #expect(heard.count == samples.count + 88_200)
            #expect(heard[(place + 88_200)...] == samples[place...])
            let part = heard[place + 20_000..<place + 60_000]
            #expect(part.contains { abs(Int($0)) > 8_000 }, "the announcement is as loud as its file")
            if channels == 1 { #expect(part.indices.allSatisfy { $0 % 2 == 1 || part[$0] == part[$0 + 1] }) }
        }

        @Test func `ten announcements are heard one after the other, by priority, and none is lost`() async throws {
            let (fixture, ear, samples) = try await music()
            let before = await ear.read(50_000)
            var levels: [Int16] = []
            for number in 1...10 {
                let level = Int16(number * 3 + 20_000)
                levels.append(level)
                let path = try media.level("\(number).wav", level, frames: 10_000 + number)
                let status = try await fixture.player.interrupt(with: path, priority: number % 4)
                #expect((status.announcements ?? 0) == number - 1)
            }
            let heard = try await hear(ear, fixture, after: before)
            let place = common(heard, samples) / 2 * 2
            // The first had no rivals; then come priorities 3, 2, 1 and 0, each in the order of arrival.
            let order = [1, 3, 7, 2, 6, 10, 5, 9, 4, 8]
            let expected = order.flatMap { Array(repeating: levels[$0 - 1], count: (10_000 + $0) * 2) }
            #expect(heard == samples[..<place] + expected + samples[place...])
        }

        @Test func `without music the device is opened for an announcement and closed after it`() async throws {
            let output = media.path("out.wav")
            let fixture = PlayerFixture(driver: .wav(output))
            // Long enough that it is not rendered completely before the answer.
            let first = try await media.wav("first.wav", seconds: 20, rate: 48_000)
            let second = try await media.mp3("second.mp3", seconds: 20, "-b", "128")
            for (path, file) in [(first, output), (second, output + "-2")] {
                let status = try await fixture.player.interrupt(with: path)
                #expect(status.timeControlStatus == .stopped)
                #expect(status.announcement?.path == path)
                try await fixture.wait("the end") { $0.announcement == nil }
                // The header is written when the file is closed.
                try await FileSize(of: file).pass(3_400_000)
            }
            #expect(try await media.rendered(output) == media.sox(first))
            #expect(try await media.rendered(output + "-2") == media.mpg123(second))
            #expect(await fixture.player.status().timeControlStatus == .stopped)
            #expect(await fixture.journal.writes.allSatisfy { $0.state.timeControlStatus == .stopped })
        }

        @Test func `an unplayable announcement is reported and skipped, and the music stays whole`() async throws {
            let (fixture, ear, samples) = try await music()
            let before = await ear.read(50_000)
            let text = media.path("text.wav")
            try Data("no music\n".utf8).write(to: URL(fileURLWithPath: text))
            let good = try media.level("good.wav", 12_345, frames: 5_000)
            _ = try await fixture.player.interrupt(with: text)
            _ = try await fixture.player.interrupt(with: good)
            let heard = try await hear(ear, fixture, after: before)
            let place = common(heard, samples) / 2 * 2
            #expect(heard == samples[..<place] + Array(repeating: 12_345, count: 10_000) + samples[place...])
            #expect(await fixture.player.status().lastError?.path == text)
        }

        @Test func `an announcement that cannot be played, mixed or queued is refused`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let player = fixture.player
            let good = try await media.wav("good.wav", seconds: 30)
            let folder = media.scratch.path
            await #expect(throws: MediaError.noSuchPath(path: "/nowhere.wav")) {
                try await player.interrupt(with: "/nowhere.wav")
            }
            await #expect(throws: MediaError.notAFile(path: folder, kind: "folder")) {
                try await player.interrupt(with: folder)
            }
            for duck in [-0.1, 1.1, .infinity] {
                await #expect(throws: PlayerError.invalidDuck(duck)) {
                    try await player.interrupt(with: good, duck: duck)
                }
            }
            for _ in 0...32 { _ = try await player.interrupt(with: good) }
            await #expect(throws: PlayerError.tooManyAnnouncements(limit: 32)) {
                try await player.interrupt(with: good)
            }
            let silenced = await player.stop()
            #expect(silenced.announcement == nil)
            #expect(silenced.announcements == nil)
            await player.suspend()
            await #expect(throws: PlayerError.suspended) { try await player.interrupt(with: good) }
        }
    }
}
