import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import MPDServer

/// Slow, greedy and hostile clients. Serialized: long answers take seconds in a debug build, and tests measure time.
@Suite(.serialized) struct LimitTests {
    @Test func `a line may have 8,191 bytes; a longer one closes the connection with the reason`() async throws {
        let fixture = try await MPDFixture()
        let client = try await fixture.connect()
        #expect(try await client.ask("ping " + String(repeating: "x", count: 8_186))[0].hasPrefix("ACK [2@0] {ping}"))
        for line in [String(repeating: "x", count: 8_192) + "\n", String(repeating: "x", count: 100_000)] {
            let client = try await fixture.connect()
            try? await client.send("ping\n" + line)
            #expect(try await client.answer() == ["OK"])
            #expect(try await client.answer() == ["ACK [5@0] {} Input buffer is full"])
            #expect(try await client.answer() == ["<closed>"])
        }
        #expect(try await client.ask("ping") == ["OK"])
    }

    @Test func `a command list over 2 MiB closes the connection with the reason`() async throws {
        let fixture = try await MPDFixture()
        let client = try await fixture.connect()
        let line = "add \"" + String(repeating: "x", count: 4_000) + "\"\n"
        try await client.send("command_list_begin\n")
        for _ in 0..<530 { try? await client.send(line) }
        let answer = try await client.answer()
        #expect(answer == ["ACK [5@0] {} command list is too large"] || answer == ["<closed>"])
        #expect(try await fixture.connect().ask("ping") == ["OK"])
    }

    @Test func `empty lines count towards the size of a command list`() async throws {
        let client = try await MPDFixture().connect()
        try? await client.send("command_list_begin\n" + String(repeating: "\n", count: 200_000))
        let answer = try await client.answer()
        #expect(answer == ["ACK [5@0] {} command list is too large"] || answer == ["<closed>"])
    }

    @Test func `a silent client is closed, even after an idle reply, but an idling client is not`() async throws {
        var limits = MPDLimits()
        // Far longer than a busy machine needs for a line.
        limits.silence = .seconds(4)
        let fixture = try await MPDFixture(limits: limits)
        let (idle, again) = (try await fixture.connect(), try await fixture.connect())
        for client in [idle, again] { try await client.send("idle mixer\n") }
        let silent = try await fixture.connect()
        #expect(try await silent.ask("ping") == ["OK"])
        #expect(try await silent.answer() == ["<closed>"])
        #expect(try await fixture.connect().ask("setvol 5") == ["OK"])
        for client in [idle, again] { #expect(try await client.answer() == ["changed: mixer", "OK"]) }
        try await again.send("idle mixer\n")
        #expect(try await idle.answer() == ["<closed>"])
        #expect(try await fixture.connect().ask("setvol 6") == ["OK"])
        #expect(try await again.answer() == ["changed: mixer", "OK"])
    }

    @Test func `5,000 pipelined commands are all answered`() async throws {
        let client = try await MPDFixture().connect()
        let sender = Task { try await client.send(String(repeating: "getvol\n", count: 5_000)) }
        for _ in 0..<5_000 { #expect(try await client.answer() == ["volume: 100", "OK"]) }
        try await sender.value
    }

    @Test func `a client over the connection limit is closed until another one leaves`() async throws {
        var limits = MPDLimits()
        limits.connections = 2
        let fixture = try await MPDFixture(limits: limits)
        let first = try await fixture.connect()
        let second = try await fixture.connect()
        let third = LineReader(try connectUnix(fixture.path))
        try await third.wait(for: "end") { lines, isAtEnd in isAtEnd ? #expect(lines.isEmpty) : nil }
        #expect(try await second.ask("close") == ["<closed>"])
        // The server counts a client for a moment after it has left.
        var greeting: [String] = []
        while greeting.isEmpty {
            let next = LineReader(try connectUnix(fixture.path))
            greeting = try await next.wait(for: "greeting") { lines, isAtEnd in lines.isEmpty && !isAtEnd ? nil : lines
            }
        }
        #expect(greeting == ["OK MPD \(MPDSession.protocolVersion)"])
        #expect(try await first.ask("ping") == ["OK"])
    }

    @Test func `a client that does not read a long answer is closed, and others are served meanwhile`() async throws {
        var limits = MPDLimits()
        limits.stall = .milliseconds(300)
        let songs = (0..<40_000).map {
            ListDatabase.song("a/\($0)-" + String(repeating: "x", count: 200), "A", "B", "C")
        }
        let fixture = try await MPDFixture(database: ListDatabase(songs: songs), limits: limits)
        let descriptor = try connectUnix(fixture.path)
        defer { close(descriptor) }
        try await blocking { try sendAll(descriptor, "listallinfo\n") }
        let other = try await fixture.connect()
        #expect(try await other.ask("status").last == "OK")
        // POLLRDHUP: the server has closed the connection.
        let isClosed = try await blocking {
            var waiting = pollfd(fd: descriptor, events: 0x2000, revents: 0)
            return poll(&waiting, 1, 20_000) == 1
        }
        #expect(isClosed)
        let read = try await LineReader(dup(descriptor)).wait(for: "end") { lines, isAtEnd in isAtEnd ? lines : nil }
        #expect(read.last != "OK")
        #expect(read.count < 40_000 * 8)
        // A client that reads gets the whole answer.
        #expect(try await MPDFixture(database: ListDatabase(songs: songs)).connect().ask("listall").count == 40_002)
    }

    @Test func `the next client is served after garbage of any kind`() async throws {
        var limits = MPDLimits()
        // Clients that have left may still be counted.
        limits.connections = 300
        let fixture = try await MPDFixture(limits: limits)
        var random = SeededGenerator(seed: 1)
        for number in 0..<200 {
            let descriptor = try connectUnix(fixture.path)
            defer { close(descriptor) }
            let bytes = (0..<Int.random(in: 1...5_000, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            try await blocking {
                _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
            if number.isMultiple(of: 2) { shutdown(descriptor, Int32(SHUT_WR)) }
        }
        for text in [
            "status\r\n", "\u{0}\n", "\n\n\n", "add \"\u{FFFD}\u{0}\"\n", "list_OK\nOK\n", "command_list_begin\n",
        ] {
            let client = try await fixture.connect()
            try await client.send(text)
            #expect(try await fixture.connect().ask("ping") == ["OK"])
        }
    }

    @Test func `shutdown promptly closes idle, half-read and unread connections`() async throws {
        let songs = (0..<40_000).map {
            ListDatabase.song("a/\($0)-" + String(repeating: "x", count: 200), "A", "B", "C")
        }
        let fixture = try await MPDFixture(database: ListDatabase(songs: songs), onTCP: true)
        let idle = try await fixture.connect()
        try await idle.send("idle\n")
        let half = try await fixture.connectTCP()
        try await half.send("comm")
        let unread = try connectUnix(fixture.path)
        defer { close(unread) }
        // A connection that is not served yet ends with the process, which here continues. A served one has its greeting.
        let isServed = try await blocking {
            var waiting = pollfd(fd: unread, events: Int16(POLLIN), revents: 0)
            return poll(&waiting, 1, 60_000) == 1
        }
        #expect(isServed)
        try await blocking { try sendAll(unread, "listallinfo\n") }
        let began = ContinuousClock.now
        try await fixture.stop()
        // One second, plus two for a busy machine.
        #expect(ContinuousClock.now - began < .seconds(3))
        #expect(try await idle.answer() == ["<closed>"])
        #expect(try await half.answer() == ["<closed>"])
        _ = try await LineReader(dup(unread)).wait(for: "end") { lines, isAtEnd in isAtEnd ? lines : nil }
    }

    @Test func `on TCP a password unlocks the commands, and a browser's request is dropped`() async throws {
        let access = MPDAccess(passwords: [try #require(MPDPassword("open sesame"))])
        let fixture = try await MPDFixture(access: access, onTCP: true)
        let client = try await fixture.connectTCP()
        #expect(try await client.ask("status") == [#"ACK [4@0] {status} you don't have permission for "status""#])
        #expect(try await client.ask("idle") == [#"ACK [4@0] {idle} you don't have permission for "idle""#])
        #expect(
            try await client.ask("commands") == [
                "command: binarylimit", "command: close", "command: commands", "command: notcommands",
                "command: password",
                "command: ping", "command: tagtypes", "OK",
            ]
        )
        #expect(try await client.ask("notcommands").contains("command: status"))
        for wrong in ["open sesam", "open sesame ", "Open sesame", "x"] {
            #expect(try await client.ask("password \"\(wrong)\"") == ["ACK [3@0] {password} incorrect password"])
        }
        #expect(try await client.ask("password \"open sesame\"") == ["OK"])
        #expect(try await client.ask("status").last == "OK")
        #expect(try await client.ask("notcommands").contains("command: kill"))
        // The Unix socket is protected by its file mode.
        #expect(try await fixture.connect().ask("status").last == "OK")
        let browser = try await fixture.connectTCP()
        #expect(try await browser.ask("POST / HTTP/1.1\r\nHost: localhost:6600\r\n\r\nsetvol 0\n") == ["<closed>"])
        #expect(try await client.ask("getvol") == ["volume: 100", "OK"])
    }

    @Test func `an address in use is reported with the address and the reason`() async throws {
        let fixture = try await MPDFixture(onTCP: true)
        let scratch = try ScratchDirectory()
        let error = await #expect(throws: MPDBindError.self) {
            _ = try await MPDServer.bind(
                socket: scratch.file("mpd.sock"),
                addresses: [try #require(ListenAddress("127.0.0.1:\(fixture.port)"))],
                access: MPDAccess(),
                player: fixture.player,
                database: nil,
                hub: fixture.hub,
                group: fixture.group,
                logger: fixture.logger
            )
        }
        #expect(error?.place == "127.0.0.1:\(fixture.port)")
        #expect(error?.reason == "Address already in use", "\(String(describing: error))")
    }
}
