import AudioPlayback
import BackgrounderAPI
import Foundation
import MediaFiles
import TestSupport
import Testing

/// The commands for the queue that other protocols use.
extension Playback {
    @Suite struct QueueCommandsTests {
        private let media: Media

        init() throws { media = try Media() }

        /// Makes sound files and returns their paths.
        private func files(_ count: Int) async throws -> [String] {
            let source = try await media.wav("0.wav", seconds: 10, rate: 8000, channels: 1)
            return try [source]
                + (1..<max(1, count)).map { number in
                    let path = media.path("\(number).wav")
                    try FileManager.default.copyItem(atPath: source, toPath: path)
                    return path
                }
        }

        @Test func `ranges are moved, swapped, removed and shuffled in one step each, and stored`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let player = fixture.player
            _ = try await player.append(Array(repeating: try await files(1)[0], count: 9))
            try await fixture.wait("lengths") { _ in await player.queue().allSatisfy { $0.duration == 10 } }
            try await player.move(0..<2, to: 3)
            #expect(await player.queue().map(\.id) == [3, 4, 5, 1, 2, 6, 7, 8, 9])
            try await player.swap(id: 3, with: 9)
            #expect(await player.queue().map(\.id) == [9, 4, 5, 1, 2, 6, 7, 8, 3])
            try await player.remove(positions: 1..<4)
            #expect(await player.queue().map(\.id) == [9, 2, 6, 7, 8, 3])
            try await player.remove(ids: [8, 9])
            try await player.shuffle(1..<3)
            let ids = await player.queue().map(\.id)
            #expect(ids.first == 2)
            #expect(ids.last == 3)
            #expect(Set(ids.dropFirst().dropLast()) == [6, 7])
            // The descriptions of the files may be stored in between.
            try await fixture.waitForDescriptions()
            #expect(await fixture.journal.queue == player.items(in: 0..<100))
            #expect(await player.item(id: 3)?.position == 3)
            #expect(await player.item(id: 9) == nil)
            await #expect(throws: PlayerError.noSuchItem(id: 9)) { try await player.remove(ids: [2, 9]) }
            await #expect(throws: PlayerError.invalidPosition(5, count: 4)) {
                try await player.remove(positions: 3..<5)
            }
            #expect(await player.queueLength == 4)
        }

        @Test func `the changes since a version are exactly the items that changed`() async throws {
            let fixture = PlayerFixture(driver: .null, startsAtOnce: false)
            let player = fixture.player
            let file = try await files(1)[0]
            let empty = await player.queueVersion
            #expect(empty == 1)
            _ = try await player.append([file, file, file])
            try await fixture.wait("lengths") { _ in await player.queue().allSatisfy { $0.duration == 10 } }
            let described = await player.queueVersion
            #expect(await player.items(changedSince: empty).count == 3)
            #expect(await player.items(changedSince: described).isEmpty)
            _ = try await player.move(id: 3, to: 1)
            #expect(await player.items(changedSince: described).map(\.id) == [3, 2])
            #expect(await player.queueVersion > described)
        }

        @Test func `a file without audio is refused before anything is queued`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let wav = try await files(1)[0]
            let refused = [
                try media.scratch.write("Buy milk.\n", to: "notes.txt"),
                try media.scratch.write("no sound", to: "text.mp3"),
                try media.scratch.write("", to: "empty.wav"),
                try media.scratch.write(
                    "\u{FEFF}Buy milk and bread.".data(using: .utf16LittleEndian) ?? Data(),
                    to: "wide.txt"
                ),
            ]
            for path in refused {
                await #expect(throws: MediaError.notAudio(path: path, reason: "not a supported audio format")) {
                    try await fixture.player.append([wav, path])
                }
            }
            #expect(await fixture.player.queue().isEmpty)
            let renamed = media.path("tune.txt")
            try FileManager.default.copyItem(atPath: wav, toPath: renamed)
            #expect(try await fixture.player.append([renamed]).map(\.path) == [renamed])
        }

        @Test func `the next item is known in advance, and an error is cleared on request`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let player = fixture.player
            let paths = try await files(2)
            let text = try await media.wav("text.wav")
            #expect(await player.nextItem == nil)
            _ = try await player.append([paths[0], text, paths[1]])
            try media.scratch.write("no sound", to: "text.wav")
            _ = try await player.play()
            // The second file cannot be played, which shows as soon as it is decoded ahead.
            try await fixture.wait("the fault") { $0.lastError?.path == text }
            #expect(await player.nextItem?.id == 3)
            await player.clearError()
            #expect(await player.status().lastError == nil)
            _ = try await player.play(id: 3)
            #expect(await player.nextItem == nil)
            _ = try await player.setOptions(repeat: true, single: .on)
            #expect(await player.nextItem?.id == 3)
        }

        @Test func `removing a range with the current item plays the item after the range`() async throws {
            let fixture = PlayerFixture(driver: .null)
            _ = try await fixture.player.append(try await files(4))
            _ = try await fixture.player.play(id: 2)
            try await fixture.player.remove(positions: 0..<3)
            let status = await fixture.player.status()
            #expect(status.currentItem?.id == 4)
            #expect(status.currentItem?.position == 0)
            #expect(status.timeControlStatus == .playing)
            try await fixture.player.remove(positions: 0..<1)
            #expect(await fixture.player.status().timeControlStatus == .stopped)
        }

        @Test func `an insert without a position goes after the current item, or to the front without one`()
            async throws
        {
            let fixture = PlayerFixture(driver: .null)
            let paths = try await files(2)
            _ = try await fixture.player.append(paths)
            #expect(try await fixture.player.insert([paths[0]]).map(\.position) == [0])
            _ = try await fixture.player.play(id: 1)
            #expect(try await fixture.player.insert(paths).map(\.position) == [2, 3])
            #expect(await fixture.player.queue().map(\.id) == [3, 1, 4, 5, 2])
        }

        @Test func `after a failed write the whole queue is written, then changes again`() async throws {
            let fixture = PlayerFixture(driver: .null, startsAtOnce: false)
            let file = try await files(1)[0]
            _ = try await fixture.player.append([file, file])
            try await fixture.waitForDescriptions()
            // The command's first write probes the journal; the second one fails.
            await fixture.journal.refuse(1, after: 1)
            await #expect(throws: PlayerError.notStored(reason: "DiskFull()", isInEffect: true)) {
                try await fixture.player.remove(id: 1)
            }
            #expect(await fixture.journal.queue.map(\.id) == [1, 2])
            _ = try await fixture.player.append([file])
            #expect(await fixture.journal.queue.map(\.id) == [2, 3])
            _ = try await fixture.player.move(id: 3, to: 0)
            #expect(await fixture.journal.queue.map(\.id) == [3, 2])
        }

        @Test func `a change that cannot be stored is refused and has no effect`() async throws {
            let fixture = PlayerFixture(driver: .null, startsAtOnce: false)
            let file = try await files(1)[0]
            _ = try await fixture.player.append([file, file])
            try await fixture.waitForDescriptions()
            let refused = PlayerError.notStored(reason: "DiskFull()", isInEffect: false)
            let commands: [@Sendable () async throws -> Void] = [
                { _ = try await fixture.player.append([file]) }, { try await fixture.player.remove(id: 1) },
                { try await fixture.player.clear() }, { _ = try await fixture.player.setOptions(volume: 3) },
                { _ = try await fixture.player.play(paths: [file]) }, { try await fixture.player.shuffle() },
            ]
            for command in commands {
                await fixture.journal.refuse(1)
                await #expect(throws: refused) { try await command() }
            }
            #expect(await fixture.player.queue().map(\.id) == [1, 2])
            #expect(await fixture.player.status().volume == 100)
        }

        @Test func `files that are played but cannot be stored are reported to the caller`() async throws {
            let fixture = PlayerFixture(driver: .null, startsAtOnce: false)
            let file = try await files(1)[0]
            // The command's first write probes the journal; the second one fails.
            await fixture.journal.refuse(1, after: 1)
            await #expect(throws: PlayerError.notStored(reason: "DiskFull()", isInEffect: true)) {
                try await fixture.player.play(paths: [file])
            }
            let status = await fixture.player.status()
            #expect(status.timeControlStatus == .playing)
            #expect(status.currentItem?.path == file)
            _ = await fixture.player.pause()
            #expect(await fixture.journal.queue.map(\.path) == [file])
        }

        @Test func `an unreadable file is not read again at each start, but when it is played`() async throws {
            let path = try await files(1)[0]
            let items = (1...30).map { PlayerItem(id: $0, position: $0 - 1, path: path) }
            let journal = MemoryJournal()
            try await journal.save([.replaced(items)], state: PlayerState(), isStateNew: true)
            let fixture = PlayerFixture(driver: .null, queue: items, unreadable: [2, 20], journal: journal)
            try await fixture.wait("all others") { _ in
                await fixture.player.queue().count { $0.sampleRate == 8000 } == 29
            }
            #expect(await fixture.player.item(id: 20)?.sampleRate == nil)
            _ = try await fixture.player.play(id: 20)
            try await fixture.wait("the last") { _ in await fixture.player.item(id: 20)?.sampleRate == 8000 }
        }

        @Test func `an unreadable file is stored as unreadable, but a missing one is not`() async throws {
            let fixture = PlayerFixture(driver: .null)
            let text = try media.scratch.write("ID3 and no sound", to: "text.mp3")
            let items = [
                PlayerItem(id: 1, position: 0, path: media.path("gone")), PlayerItem(id: 2, position: 1, path: text),
            ]
            _ = try await fixture.player.append([text])
            try await fixture.wait("the unreadable file") { _ in await fixture.journal.unreadable == [1] }
            let other = PlayerFixture(driver: .null, queue: items)
            try await other.wait("the unreadable file only") { _ in await other.journal.unreadable == [2] }
        }
    }
}
