import TestSupport
import Testing

@testable import MPDServer

/// Waiting for changes.
@Suite struct IdleTests {
    @Test(
        "A client that idles hears of what changed, whoever changed it",
        arguments: [
            ("setvol 33", "mixer"), ("repeat 1", "options"), ("replay_gain_mode album", "options"),
            ("add plain.wav", "playlist"), ("play", "player"), ("seek 0 0.1", "player"),
            ("subscribe a", "subscription"),
        ]
    )
    func changes(command: String, subsystem: String) async throws {
        let fixture = try await MPDFixture()
        let (watcher, other) = (try await fixture.connect(), try await fixture.connect())
        try await other.ask("add plain.wav")
        if command.hasPrefix("seek") { try await other.ask("play") }
        // What came before is told first.
        var told: [String] = []
        try await watcher.send("idle \(subsystem)\n")
        try await other.ask(command)
        repeat { told = try await watcher.answer() } while told.isEmpty
        #expect(told == ["changed: \(subsystem)", "OK"])
    }

    @Test("What changed between two idles is told at the second at once, each part once")
    func between() async throws {
        let fixture = try await MPDFixture()
        let client = try await fixture.connect()
        try await client.ask("setvol 10", "setvol 20", "ping")
        #expect(try await client.ask("idle mixer") == ["changed: mixer", "OK"])
        fixture.hub.changed([.database, .update])
        #expect(try await client.ask("idle database") == ["changed: database", "OK"])
        try await client.send("idle mixer\n")
        #expect(try await client.ask("noidle") == ["OK"])
        // Not while it idles: nothing to end.
        #expect(try await client.ask("noidle\nping") == ["OK"])
    }

    @Test("A command while it idles ends the connection, as with MPD; an idle in a list ends the list")
    func misuse() async throws {
        let fixture = try await MPDFixture()
        let client = try await fixture.connect()
        #expect(try await client.ask("idle\nping") == ["<closed>"])
        let other = try await fixture.connect()
        #expect(try await other.ask("command_list_begin\nidle mixer\nping\ncommand_list_end\nnoidle") == ["OK"])
    }

    @Test("A client that does not read what it idled for keeps nobody waiting", .timeLimit(.minutes(1)))
    func stuck() async throws {
        let fixture = try await MPDFixture()
        let context = MPDContext(
            player: fixture.player,
            database: nil,
            hub: fixture.hub,
            gate: PasswordGate(MPDAccess(), limits: MPDLimits(), group: fixture.group, logger: fixture.logger),
            limits: MPDLimits(),
            started: .now
        )
        let (room, end) = AsyncStream.makeStream(of: Void.self)
        defer { end.finish() }
        let stuck = MPDSession(context: context, peer: .local, silence: nil) { _ in for await _ in room {} }
        await fixture.hub.join(stuck, fixture.player)
        #expect(try await stuck.receive(.text("idle mixer")) == .goesOn)
        await fixture.hub.tell(.mixer)
        #expect(await !stuck.isIdling)
    }

    @Test("Messages reach those who subscribed")
    func messages() async throws {
        let fixture = try await MPDFixture()
        let (reader, writer) = (try await fixture.connect(), try await fixture.connect())
        #expect(try await reader.ask("subscribe a") == ["OK"])
        #expect(try await reader.ask("subscribe a") == ["ACK [56@0] {subscribe} already subscribed to this channel"])
        #expect(try await writer.ask("channels") == ["channel: a", "OK"])
        try await reader.send("idle message\n")
        #expect(try await writer.ask(#"sendmessage a "hello there""#) == ["OK"])
        #expect(try await reader.answer() == ["changed: message", "OK"])
        #expect(try await reader.ask("readmessages") == ["channel: a", "message: hello there", "OK"])
        #expect(try await reader.ask("readmessages") == ["OK"])
        for number in 1...100 { try await writer.ask("sendmessage a \(number)") }
        #expect(try await reader.ask("readmessages").count == 64 * 2 + 1)
    }
}
