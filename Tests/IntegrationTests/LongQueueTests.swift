import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// A long queue in a real service; `BACKGROUNDER_QUEUE_ITEMS` sets its length.
///
/// The limits are wide, as this is not the optimised build and the machine has other work.
@Suite(.sharing, .inRealTime) struct LongQueueTests {
    private static let count =
        ProcessInfo.processInfo.environment["BACKGROUNDER_QUEUE_ITEMS"].flatMap { Int($0) } ?? 20_000

    @Test func `a long queue is fast, uses little memory and survives kill -9`() async throws {
        let service = try Service(TestConfiguration(modes: "[audio]"))
        let item = Products.repository("media/welcome-announcement.wav")
        let list = try service.scratch.write(String(repeating: item + "\n", count: Self.count), to: "long.m3u")
        let pid = try await service.start()
        let before = try ProcessFigures(of: pid)
        let (added, took) = try await time { try await service.command(["queue", "add", list], within: 120) }
        let ids = added.text.split(separator: "\n").compactMap { Int($0) }
        try #require(ids == Array(1...Self.count), "\(added.errors)")
        #expect(took < .seconds(60))

        let middle = Self.count / 2
        let events = try service.events(attach: true)
        try await service.run("audio", "play", "\(middle)")
        for command in [
            ["audio", "next"], ["audio", "previous"], ["audio", "pause"], ["audio", "seek", "0:01"],
            ["queue", "move", "\(middle)", "0"], ["queue", "move", "\(middle)", "\(Self.count - 1)"],
            ["queue", "remove", "7", "8", "\(Self.count)"], ["queue", "insert", item], ["audio", "status"],
        ] {
            let (run, took) = try await time { try await service.command(command) }
            #expect(run.exitCode == 0, "\(run)")
            #expect(took < .seconds(5), "\(run)")
        }
        let state = try await events.wait(forState: "the insert") { $0.queueLength == Self.count - 2 }
        #expect(state.queue.count == StateSnapshot.mostItems)
        #expect(state.queue.contains { $0.id == middle })
        #expect(zip(state.queue, state.queue.dropFirst()).allSatisfy { $0.position + 1 == $1.position })
        let largest = events.received.payloads("state").map(\.utf8.count).max() ?? 0
        #expect(largest < 256 << 10)
        let grown = try ProcessFigures(of: pid).residentSize - before.residentSize
        #expect(grown < 120 << 20, "\(grown >> 20) MiB")

        let seen: [PlayerItem] = try await service.json("queue")
        #expect(seen.map(\.position) == Array(0..<Self.count - 2))
        // The current item was moved to the end, and the insert follows it.
        #expect(seen.suffix(2).map(\.id) == [middle, Self.count + 1])
        try await service.crash()
        try await service.start()
        let stored: [PlayerItem] = try await service.json("queue")
        #expect(stored.map(\.id) == seen.map(\.id))
        #expect(stored.map(\.path) == seen.map(\.path))
        let status: AudioStatus = try await service.json("audio")
        #expect(status.currentItem?.id == middle)
        #expect(status.timeControlStatus == .paused)
        try await service.run("queue", "clear")
    }

    @Test func `the bad lines of a playlist are reported, and its good items are added`() async throws {
        let service = try Service(TestConfiguration(modes: "[audio]"))
        try await service.start()
        let item = Products.repository("media/welcome-announcement.wav")
        let folder = service.file("empty")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let good = try service.scratch.write("[playlist]\nFile1=\(item)\nNumberOfEntries=1\n", to: "good.pls")
        let bad = try service.scratch.write("\(item)\nno.mp3\n\(folder)\nftp://x/y\nfile://\(item)\n", to: "bad.m3u")

        #expect(try await service.run("queue", "load", good).text == "1\n")
        let run = try await service.command(["queue", "load", bad])
        #expect(run.exitCode == 1)
        #expect(run.text == "2\n3\n")
        let lines = run.errors.split(separator: "\n")
        #expect(lines.count == 3)
        let missing = "bad.m3u:2: \(service.scratch.file("no.mp3")): no such file or folder"
        for (line, word) in zip(lines, [missing, "bad.m3u:3: ", "bad.m3u:4: cannot play ftp addresses, only files"]) {
            #expect(line.contains(word), "\(run)")
        }
        #expect(lines.last?.hasSuffix("; the others were added") == true)
        #expect(try await service.run("queue", "add", good, bad).text == "4\n5\n6\n")
        #expect(service.logLines().contains { $0.contains("bad.m3u:2: ") && $0.contains("no such file") })
        let none = try service.scratch.write("no.mp3\n", to: "none.m3u")
        try await service.command(["queue", "load", none]).expectRefusal(1, ["none.m3u:1: ", "nothing was added"])
        try await service.command(["queue", "add", none]).expectRefusal(4, ["nothing in this playlist", "line 1"])
        #expect(try await service.run("audio", "play", good).exitCode == 0)
        for name in ["out.m3u", "out.pls"] {
            try await service.run("queue", "save", service.file(name))
            #expect(try await service.run("queue", "load", service.file(name)).exitCode == 0)
        }
        let queue: [PlayerItem] = try await service.json("queue")
        #expect(queue.count == 28)
        #expect(queue.allSatisfy { $0.path == item })
        let invalid = try await service.connection().send(
            "POST",
            "/v1/queue",
            body: #"{"items": ["/x"], "after": "current", "position": 0}"#
        )
        #expect(invalid.status == 422)
    }
}
