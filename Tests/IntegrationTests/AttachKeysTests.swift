import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// The keys of `attach` on a terminal, and what they do in a real service.
@Suite(.sharing) struct AttachKeysTests {
    private static let names = ["harbour-chimes", "morning-tune", "quiet-waltz", "welcome-announcement"]

    /// Starts a service whose queue has four items with the ids 1 to 4.
    private func start(autoplay: Bool = false) async throws -> Service {
        let files = try FileManager.default.contentsOfDirectory(atPath: Products.repository("media")).sorted()
        let queue = try Self.names.map { name in
            Products.repository("media/\(try #require(files.first { $0.hasPrefix(name) }))")
        }
        let service = try Service(
            source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=50",
            queue: queue,
            autoplay: autoplay
        )
        try await service.start()
        return service
    }

    private func queue(_ service: Service) async throws -> [Int] {
        try await service.json("queue", as: [PlayerItem].self).map(\.id)
    }

    @Test func `keys select, play, move and remove items of the queue`() async throws {
        let service = try await start()
        let events = try service.events()
        let terminal = try AttachedTerminal(service)
        try await terminal.wait(for: "1. Backgrounder: Harb")
        try await terminal.type("\u{1B}[B\u{1B}OB", until: "›  3.")
        try await terminal.type("\r")
        try await events.wait(forState: "the third plays") {
            $0.status.audio?.currentItem?.id == 3 && $0.status.audio?.timeControlStatus == .playing
        }
        try await terminal.type("KK")
        try await events.wait(forState: "two up") { $0.queue.map(\.id) == [3, 1, 2, 4] }
        try await terminal.type("KJJJJ", until: "›▶ 4.")
        try await events.wait(forState: "down to the end") { $0.queue.map(\.id) == [1, 2, 4, 3] }
        try await terminal.type("k", until: "›  3.")
        try await terminal.type("d")
        try await events.wait(forState: "one removed") { $0.queue.map(\.id) == [1, 2, 3] }
        try await terminal.type("\u{1B}[3~")
        try await events.wait(forState: "another removed") { $0.queue.map(\.id) == [1, 2] }
        #expect(try await queue(service) == [1, 2])
        try await terminal.type("q")
        try await terminal.waitForEnd()
        try terminal.expectRestored()
    }

    @Test func `keys play, pause, skip, seek and set the volume`() async throws {
        let service = try await start()
        let events = try service.events()
        let terminal = try AttachedTerminal(service)
        try await terminal.wait(for: "1. Backgrounder: Harb")
        try await terminal.type("-----+")
        try await events.wait(forState: "quick presses add up") { $0.status.audio?.volume == 80 }
        try await terminal.type("=====+")
        try await events.wait(forState: "not above 100") { $0.status.audio?.volume == 100 }
        try await terminal.type(" n")
        try await events.wait(forState: "the second plays") { $0.status.audio?.currentItem?.id == 2 }
        try await terminal.type(" ")
        try await events.wait(forState: "pause") { $0.status.audio?.timeControlStatus == .paused }
        try await terminal.type("\u{1B}[C")
        try await events.wait(forState: "10 s ahead") { $0.status.audio?.elapsed ?? 0 >= 10 }
        try await terminal.type(",")
        try await events.wait(forState: "10 s back") { $0.status.audio?.elapsed ?? 10 < 8 }
        try await terminal.type("..")
        try await events.wait(forState: "past the end is the next item") { $0.status.audio?.currentItem?.id == 3 }
        try await terminal.type("p")
        try await events.wait(forState: "previous") { $0.status.audio?.currentItem?.id == 2 }
        try await terminal.type("q")
        try await terminal.waitForEnd()
    }

    @Test func `a refused key says why until the next key`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        let terminal = try AttachedTerminal(service)
        try await terminal.waitForPanels()
        try await terminal.type(" ", until: "! the queue is empty")
        try await terminal.type("x", until: "space play/pause")
        try await terminal.type("q")
        try await terminal.waitForEnd()
    }

    @Test func `the help, one panel and the log fill the screen, and Esc goes back and then detaches`() async throws {
        let service = try await start()
        let terminal = try AttachedTerminal(service)
        try await terminal.wait(for: "1. Backgrounder: Harb")
        try await terminal.type("?", until: "│ space       play or pause")
        try await terminal.type("q", until: "┌ Audio")
        try await terminal.type("2", until: "z all panels")
        try await terminal.type("2", until: "┌ Audio")
        try await terminal.type("l", until: "info The service is active, 1 attached")
        // A new line appears without a key.
        try await service.run("queue", "clear")
        try await service.run("task", "begin", "logged", "--", "true")
        try await terminal.wait(for: "(logged) began")
        try await terminal.type("\u{1B}", until: "┌ Audio")
        try await terminal.type("\u{1B}")
        try await terminal.waitForEnd()
        try terminal.expectRestored()
    }

    @Test func `the current trip grows with the points`() async throws {
        let service = try await start()
        let terminal = try AttachedTerminal(service)
        try await terminal.lines.wait(for: "two lengths of the trip") { lines, _ in
            let shown = Set(lines.flatMap { $0.matches(of: /trip [0-9.]+ km in [0-9:]+/).map { String($0.output) } })
            return shown.count >= 2 ? true : nil
        }
        try await terminal.wait(for: " points since 2014-12-22 ")
        let trip = try #require(try await service.json("location", as: LocationStatus.self).trip)
        #expect(trip.points > 1)
        #expect(trip.distance > 0)
        #expect(trip.duration > 0)
        try await terminal.type("q")
        try await terminal.waitForEnd()
    }

    @Test func `a log that cannot be read says why`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        try FileManager.default.removeItem(atPath: service.paths.log)
        let terminal = try AttachedTerminal(service)
        try await terminal.waitForPanels()
        try await terminal.type("l", until: "│ no log at ")
        try await terminal.type("q")
        try await terminal.waitForEnd()
    }

    @Test(arguments: [["LC_ALL": "C"], ["TERM": "linux"]])
    func `a locale or a terminal without UTF-8 gets ASCII`(variables: [String: String]) async throws {
        let service = try await start()
        let terminal = try AttachedTerminal(service, variables: variables)
        try await terminal.wait(for: "+ Audio --")
        try await terminal.type("\u{1B}[B", until: ">  2. Backgrounder: Morning Tu~ 0:16 ")
        try await terminal.type("q")
        try await terminal.waitForEnd()
        #expect(terminal.lines.lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
    }

    @Test(arguments: ["dumb", ""])
    func `a terminal that knows no sequences gets plain lines`(type: String) async throws {
        let service = try await start()
        let terminal = try AttachedTerminal(service, variables: ["TERM": type])
        try await terminal.wait(for: "location  ")
        try await terminal.type("\u{3}")
        try await terminal.waitForEnd()
        #expect(!terminal.lines.lines.contains { $0.contains("\u{1B}") })
    }

    @Test func `the terminal is restored when the service crashes`() async throws {
        let service = try await start()
        let terminal = try AttachedTerminal(service)
        try await terminal.waitForPanels()
        try await service.crash()
        try await terminal.waitForEnd(3)
        try terminal.expectRestored()
        #expect(terminal.lines.lines.contains { $0.contains("lost the connection to the service") })
    }

    @Test func `a part of a long queue is read around an item`() async throws {
        let service = try Service(TestConfiguration(modes: "[audio]"))
        let item = Products.repository("media/welcome-announcement.wav")
        let list = try service.scratch.write(String(repeating: item + "\n", count: 1000), to: "long.m3u")
        try await service.start()
        try await service.run("queue", "add", list)
        let connection = try service.connection()
        for (id, first) in [(1, 0), (500, 399), (1000, 800)] {
            let items: [PlayerItem] = try await service.get("/v1/queue?around=\(id)", on: connection)
            #expect(items.map(\.position) == Array(first..<first + 200))
            #expect(items.contains { $0.id == id })
        }
        #expect(try await connection.send("GET", "/v1/queue?around=1001").status == 404)
        let refused = try await connection.send("GET", "/v1/queue?around=x")
        #expect(refused.status == 422)
        #expect(refused.text.contains("around=x is not an id"))
        // The end of the queue is reached by the keyboard, one page after the other.
        let terminal = try AttachedTerminal(service)
        try await terminal.waitForPanels()
        for _ in 0..<300 where !terminal.lines.lines.contains(where: { $0.contains("›  1000. ") }) {
            try await terminal.type("\u{1B}[6~", until: "›")
        }
        try await terminal.wait(for: "›  1000. ")
        try await terminal.type("q")
        try await terminal.waitForEnd()
    }
}
