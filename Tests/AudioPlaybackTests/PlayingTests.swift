import AudioPlayback
import BackgrounderAPI
import Foundation
import MediaFiles
import TestSupport
import Testing

extension Playback {
    /// Commands, observers and restarts, with the paced null device.
    @Suite(.serialized) struct PlayingTests {
        let media: Media

        init() throws { media = try Media() }

        private func three(_ seconds: Double = 2) async throws -> [String] {
            [
                try await media.wav("1.wav", seconds: seconds),
                try await media.wav("2.wav", seconds: seconds, frequency: 300),
                try await media.wav("10.wav", seconds: seconds, frequency: 700),
            ]
        }

        @Test func `the null device plays in real time, and observers get each multiple of their interval`()
            async throws
        {
            let fixture = PlayerFixture(driver: .null)
            let times = await fixture.player.addPeriodicTimeObserver(forInterval: .milliseconds(100))
            let path = try await media.wav("a.wav", seconds: 2)
            let began = ContinuousClock.now
            _ = try await fixture.player.play(paths: [path])
            let seen = Task {
                var seen: [PlayerTime] = []
                for await time in times { seen.append(time) }
                return seen
            }
            try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            let took = (ContinuousClock.now - began)
            #expect(took > .milliseconds(1_950), "\(took)")
            #expect(took < .seconds(10), "\(took)")
            try await fixture.shutDown()
            let elapsed = await seen.value.map(\.elapsed)
            for tenth in 1...19 {
                let due = Double(tenth) / 10
                #expect(elapsed.contains { $0 >= due - 0.002 && $0 < due + 0.15 }, "\(due) of \(elapsed)")
            }
            #expect(elapsed == elapsed.sorted())
        }

        @Test func `the status has the bit rate of the item that is heard`() async throws {
            let items = [
                (try await media.mp3("1.mp3", seconds: 2, "-b", "96"), 96...96),
                (try await media.wav("2.wav", seconds: 2), 1_411...1_412),
                (try await media.mp3("3.mp3", seconds: 3, "-V", "4"), 40...320),
            ]
            let fixture = PlayerFixture(driver: .null)
            #expect(await fixture.player.status().bitrate == nil)
            _ = try await fixture.player.play(paths: items.map(\.0))
            for (path, rates) in items {
                let status = try await fixture.wait("the sound of \(path)") {
                    $0.currentItem?.path == path && $0.elapsed ?? 0 > 0.3
                }
                #expect(rates.contains(try #require(status.bitrate)), "\(path): \(status.bitrate ?? 0)")
            }
            #expect(await fixture.player.stop().bitrate == nil)
        }

        @Test func `a second observer does not wait for the next value of the first one`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let slow = await fixture.player.addPeriodicTimeObserver(forInterval: .seconds(30))
            _ = try await fixture.player.play(paths: [try await media.wav("a.wav", seconds: 40)])
            try await fixture.wait("some progress") { $0.elapsed ?? 0 > 0.2 }
            let began = ContinuousClock.now
            let quick = await fixture.player.addPeriodicTimeObserver(forInterval: .milliseconds(10))
            var count = 0
            for await _ in quick {
                count += 1
                if count == 20 { break }
            }
            #expect(ContinuousClock.now - began < .seconds(5))
            try await fixture.shutDown()
            withExtendedLifetime(slow) {}
        }

        @Test func `pause holds the position, and play resumes from it`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let path = try await media.wav("a.wav", seconds: 30)
            _ = try await fixture.player.play(paths: [path])
            try await fixture.wait("some progress") { $0.elapsed ?? 0 > 0.4 }
            let paused = await fixture.player.pause()
            #expect(paused.timeControlStatus == .paused)
            let first = try #require(paused.elapsed)
            let journal = await fixture.journal.state
            #expect(journal.timeControlStatus == .paused)
            #expect(abs(journal.elapsed - first) < 0.05)
            let second = try await fixture.player.toggle()
            #expect(second.timeControlStatus == .playing)
            #expect(abs(try #require(second.elapsed) - first) < 0.1)
            try await fixture.wait("progress") { $0.elapsed ?? 0 > first + 0.3 }
        }

        @Test func `absolute and relative seeks reach their time, and a seek past the end is refused`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let paths = try await three(20)
            await #expect(throws: PlayerError.emptyQueue) { try await fixture.player.seek(to: 1) }
            let items = try await fixture.player.append(paths)
            try await fixture.wait("lengths") { _ in await fixture.player.queue().allSatisfy { $0.duration == 20 } }
            await #expect(throws: PlayerError.stopped) { try await fixture.player.seek(to: 1) }
            _ = try await fixture.player.play()
            #expect(abs(try #require(try await fixture.player.seek(to: 10).elapsed) - 10) < 0.2)
            #expect(abs(try #require(try await fixture.player.seek(by: -4).elapsed) - 6) < 0.4)
            #expect(abs(try #require(try await fixture.player.seek(by: -100).elapsed) - 0) < 0.4)
            for time in [20, 20.5] {
                let refusal = PlayerError.pastEnd(item: items[0].fileName, time: time, duration: 20)
                await #expect(throws: refusal) { try await fixture.player.seek(to: time) }
            }
            await #expect(throws: PlayerError.self) { try await fixture.player.seek(by: 100) }
            let stayed = await fixture.player.status()
            #expect(stayed.currentItem?.id == items[0].id)
            #expect(stayed.elapsed ?? 9 < 2)
            let ended = try await fixture.player.seek(id: items[0].id, to: 100)
            #expect(ended.currentItem?.id == items[1].id)
            #expect(ended.elapsed ?? 9 < 0.3)
            await #expect(throws: PlayerError.self) { try await fixture.player.seek(to: .nan) }
            await #expect(throws: PlayerError.self) { try await fixture.player.seek(to: -1) }
            _ = try await fixture.player.seek(to: 19.5)
            try await fixture.wait("the third") { $0.currentItem?.id == items[2].id }
        }

        @Test func `after a seek the output thread wakes up rarely`() async throws {
            let fixture = PlayerFixture(driver: .null)
            _ = try await fixture.player.play(paths: [try await media.wav("a.wav", seconds: 40)])
            try await fixture.wait("some progress") { $0.elapsed ?? 0 > 0.2 }
            _ = try await fixture.player.seek(to: 10)
            // Half of the audio decoded ahead has been heard now, and the rest is decoded in many parts.
            try await fixture.wait("a step") { $0.elapsed ?? 0 > 13 }
            let before = try wakeups(of: "audio output")
            try await fixture.wait("more steps") { $0.elapsed ?? 0 > 19 }
            #expect(try wakeups(of: "audio output") - before <= 5)
        }

        /// Returns how often threads of this name have gone to sleep.
        private func wakeups(of name: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").reduce(0) { sum, thread in
                guard let status = try? String(contentsOfFile: "/proc/self/task/\(thread)/status", encoding: .utf8),
                    status.hasPrefix("Name:\t\(name)\n"),
                    let line = status.split(separator: "\n").first(where: { $0.hasPrefix("voluntary_ctxt_switches:") })
                else { return sum }
                return sum + (line.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
            }
        }

        @Test func `next and previous start playing, even from a pause`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let ids = try await fixture.player.append(try await three(20)).map(\.id)
            await #expect(throws: PlayerError.stopped) { try await fixture.player.next() }
            _ = try await fixture.player.play()
            #expect(try await fixture.player.next().currentItem?.id == ids[1])
            _ = await fixture.player.pause()
            let status = try await fixture.player.next()
            #expect(status.currentItem?.id == ids[2])
            #expect(status.timeControlStatus == .playing)
            _ = await fixture.player.pause()
            #expect(try await fixture.player.previous().timeControlStatus == .playing)
            #expect(try await fixture.player.previous().currentItem?.id == ids[0])
            #expect(try await fixture.player.play(id: ids[2]).currentItem?.id == ids[2])
            let ended = try await fixture.player.next()
            #expect(ended.timeControlStatus == .stopped)
            #expect(ended.currentItem == nil)
            await #expect(throws: PlayerError.noSuchItem(id: 99)) { try await fixture.player.play(id: 99) }
        }

        @Test func `a folder adds its media in natural order, and a missing file adds nothing`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let paths = try await three(0.2)
            try Data("x".utf8).write(to: URL(fileURLWithPath: media.scratch.file("cover.jpg")))
            let items = try await fixture.player.append([media.scratch.path])
            #expect(items.map(\.path) == paths)
            await #expect(throws: MediaError.noSuchPath(path: "/nowhere.mp3")) {
                try await fixture.player.append([paths[0], "/nowhere.mp3"])
            }
            let fifo = media.path("fifo.mp3")
            try #require(mkfifo(fifo, 0o600) == 0)
            await #expect(throws: MediaError.notPlayableKind(path: fifo, kind: "FIFO")) {
                try await fixture.player.append([fifo])
            }
            #expect(await fixture.player.queue().count == 3)
        }

        @Test func `a playlist adds its playable entries, and is refused without any`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let paths = try await three(0.2)
            let list = try media.scratch.write(
                "#EXTM3U\r\ngone.mp3\r\n\(paths[1])\r\nftp://x/\r\nHTTP://X/y\r\n",
                to: "l.M3U8"
            )
            let other = try media.scratch.write("[playlist]\nFile1=file://\(paths[0])\nFile2=l.M3U8\n", to: "l.pls")
            #expect(
                try await fixture.player.append([list, paths[2], other]).map(\.path)
                    == [paths[1], "http://x/y", paths[2], paths[0]]
            )
            for (text, fault) in [("", nil), ("x\n", "line 1: \(media.path("x")): no such file or folder")] {
                let empty = try media.scratch.write(text, to: "empty.m3u")
                await #expect(throws: MediaError.emptyPlaylist(path: empty, fault: fault)) {
                    try await fixture.player.append([paths[0], empty])
                }
            }
            let binary = try media.scratch.write("a\0", to: "binary.pls")
            let reason = "not a playlist: it is not a text file"
            await #expect(throws: MediaError.unreadable(path: binary, reason: reason)) {
                try await fixture.player.append([binary])
            }
            #expect(await fixture.player.queueLength == 4)
        }

        @Test func `a folder with thousands of names is read completely, in natural order`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let folder = media.path("many")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            // Long and short names, so that entries end anywhere in the buffer that they are read into.
            let names = (1...3000).map { "\($0) \(String(repeating: "ü", count: $0 % 120)).wav" }
            for name in names { try Data().write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
            #expect(try await fixture.player.append([folder]).map(\.path) == names.map { "\(folder)/\($0)" })
        }

        @Test func `changing the queue during playback changes the next item`() async throws {
            let paths = try await three(1)
            let fixture = PlayerFixture(driver: .null)
            let items = try await fixture.player.append(paths)
            _ = try await fixture.player.play()
            try await fixture.wait("the first to play") { $0.elapsed ?? 0 > 0.1 }
            try await fixture.player.remove(id: items[1].id)
            _ = try await fixture.player.move(id: items[2].id, to: 0)
            _ = try await fixture.player.insert([paths[1]])
            try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            #expect(fixture.currentItems == [1, 4, nil])
        }

        @Test func `removing the current item plays the next one, or stops while paused`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let items = try await fixture.player.append(try await three(20))
            _ = try await fixture.player.play()
            try await fixture.player.remove(id: items[0].id)
            var status = await fixture.player.status()
            #expect(status.currentItem?.id == items[1].id)
            #expect(status.timeControlStatus == .playing)
            _ = await fixture.player.pause()
            try await fixture.player.remove(id: items[1].id)
            status = await fixture.player.status()
            #expect(status.timeControlStatus == .stopped)
            #expect(status.currentItem?.id == items[2].id)
            try await fixture.player.clear()
            #expect(await fixture.player.status().currentItem == nil)
            await #expect(throws: PlayerError.emptyQueue) { try await fixture.player.play() }
        }

        @Test func `oneshot pauses at the start of the next item once`() async throws {
            let fixture = PlayerFixture(driver: .null)
            _ = try await fixture.player.append(try await three(0.4))
            _ = try await fixture.player.setOptions(single: .oneshot)
            _ = try await fixture.player.play()
            let status = try await fixture.wait("the pause") { $0.timeControlStatus == .paused }
            #expect(status.currentItem?.id == 2)
            #expect(status.elapsed == 0)
            #expect(status.single == .off)
            _ = try await fixture.player.play()
            try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            #expect(fixture.currentItems == [1, 2, 3, nil])
        }

        @Test func `consume with repeat ends, options are stored, and invalid ones are refused`() async throws {
            let fixture = PlayerFixture(driver: .null)
            _ = try await fixture.player.append(try await three(0.2))
            await #expect(throws: PlayerError.invalidVolume(101)) { try await fixture.player.setOptions(volume: 101) }
            _ = try await fixture.player.setOptions(volume: 30, repeat: true, consume: true)
            _ = try await fixture.player.play()
            try await fixture.wait("the end") { $0.timeControlStatus == .stopped }
            #expect(await fixture.player.queue().isEmpty)
            #expect(await fixture.journal.queue.isEmpty)
            #expect(await fixture.journal.state.options == PlayerOptions(volume: 30, repeat: true, consume: true))
        }

        @Test func `the position is saved every half second of sound, from the start`() async throws {
            for _ in 0..<6 {
                let journal = MemoryJournal()
                let fixture = PlayerFixture(driver: .null, journal: journal)
                _ = try await fixture.player.append(try await three(20))
                _ = try await fixture.player.play()
                try await fixture.wait("three positions") { _ in journal.keptPositions.count >= 3 }
                let kept = [0] + journal.keptPositions.prefix(3).map(\.elapsed)
                // Half a second, plus the same for a busy machine.
                #expect(zip(kept, kept.dropFirst()).allSatisfy { $1 - $0 < 1 }, "\(kept)")
                try await fixture.shutDown()
            }
        }

        @Test func `a restart restores queue, item and position, and continues playing`() async throws {
            let journal = MemoryJournal()
            let first = PlayerFixture(driver: .null, journal: journal)
            _ = try await first.player.append(try await three(20))
            _ = try await first.player.play(id: 2)
            _ = try await first.player.seek(to: 7)
            try await first.wait("the position to be stored") { _ in
                journal.keptPosition?.elapsed ?? 0 > 7.3
            }
            // The state after a kill.
            let killed = await journal.state.at(journal.keptPosition)
            #expect(killed.currentItemID == 2)
            #expect(killed.elapsed > 7.3)
            #expect(killed.timeControlStatus == .playing)
            try await first.shutDown()
            let state = await journal.state
            #expect(state.timeControlStatus == .playing)
            #expect(state.currentItemID == 2)
            let second = PlayerFixture(driver: .null, queue: await journal.queue, state: state, journal: journal)
            let status = try await second.wait("playing") {
                $0.timeControlStatus == .playing && $0.elapsed ?? 0 > state.elapsed + 0.2
            }
            #expect(status.currentItem?.id == 2)
            #expect(abs(try #require(status.elapsed) - state.elapsed) < 1.5)
            _ = await second.player.pause()
            try await second.shutDown()
            let third = PlayerFixture(driver: .null, queue: await journal.queue, state: await journal.state)
            let paused = await third.player.status()
            #expect(paused.timeControlStatus == .paused)
            let stored = await journal.state.elapsed
            #expect(abs(try #require(paused.elapsed) - stored) < 0.001)
        }

        @Test func `a suspended player is paused, is stored as playing, and can be resumed`() async throws {
            let fixture = PlayerFixture(driver: .null)
            _ = try await fixture.player.play(paths: try await three(20))
            try await fixture.wait("some progress") { $0.elapsed ?? 0 > 0.3 }
            await fixture.player.suspend()
            let status = await fixture.player.status()
            #expect(status.timeControlStatus == .paused)
            #expect(await fixture.journal.state.timeControlStatus == .playing)
            await fixture.player.resume()
            try await fixture.wait("progress") {
                $0.timeControlStatus == .playing && $0.elapsed ?? 0 > (status.elapsed ?? 99) + 0.2
            }
        }

        @Test func `tags, lengths and formats are read in the background`() async throws {
            let source = try await media.wav("source.wav", seconds: 3)
            let mp3 = media.path("tagged.mp3")
            try await Tool.run(
                "lame",
                "--quiet",
                "-t",
                "-V",
                "4",
                "--tt",
                "Ein\u{7}Titel",
                "--ta",
                "Künstler",
                "--tl",
                "Album",
                "--id3v2-utf16",
                source,
                mp3
            )
            let fixture = PlayerFixture(driver: .null)
            let items = try await fixture.player.append([mp3, source])
            #expect(items.map(\.id) == [1, 2])
            try await fixture.wait("the tags") { _ in await fixture.player.queue().allSatisfy { $0.codec != nil } }
            let tagged = try #require(await fixture.journal.queue.first)
            #expect(tagged.title == "Ein Titel")
            #expect(tagged.artist == "Künstler")
            #expect(tagged.album == "Album")
            #expect(tagged.codec == "mp3")
            #expect(tagged.sampleRate == 44_100)
            #expect(tagged.channels == 2)
            #expect(abs(try #require(tagged.duration) - 3) < 0.06)
            #expect(await fixture.journal.queue.last?.duration == 3)
        }
    }
}
