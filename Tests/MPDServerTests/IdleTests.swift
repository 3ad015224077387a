import TestSupport
import Testing

@testable import MPDServer

/// The `idle` command and the messages between clients.
@Suite struct IdleTests {
    @Test(
        arguments: [
            ("setvol 33", "mixer"), ("repeat 1", "options"), ("replay_gain_mode album", "options"),
            ("add plain.wav", "playlist"), ("play", "player"), ("seek 0 0.1", "player"),
            ("subscribe a", "subscription"),
        ]
    )
    func `an idling client is notified of changes by another client`(command: String, subsystem: String) async throws {
        let fixture = try await MPDFixture()
        let (watcher, other) = (try await fixture.connect(), try await fixture.connect())
        try await other.ask("add plain.wav")
        if command.hasPrefix("seek") { try await other.ask("play") }
        // Earlier changes are read first, so that they do not answer the idle below.
        try await watcher.ask("idle \(subsystem)\nnoidle", "ping")
        try await watcher.send("idle \(subsystem)\n")
        try await other.ask(command)
        #expect(try await watcher.answer() == ["changed: \(subsystem)", "OK"])
    }

    @Test func `changes between two idle commands are reported once, by the second`() async throws {
        let fixture = try await MPDFixture()
        let client = try await fixture.connect()
        try await client.ask("setvol 10", "setvol 20", "ping")
        #expect(try await client.ask("idle mixer") == ["changed: mixer", "OK"])
        fixture.hub.changed([.database, .update])
        #expect(try await client.ask("idle database") == ["changed: database", "OK"])
        try await client.send("idle mixer\n")
        #expect(try await client.ask("noidle") == ["OK"])
        // Outside of idle, noidle does nothing.
        #expect(try await client.ask("noidle\nping") == ["OK"])
    }

    @Test func `a command while idling ends the connection, and idle in a command list ends the list`() async throws {
        let fixture = try await MPDFixture()
        let client = try await fixture.connect()
        #expect(try await client.ask("idle\nping") == ["<closed>"])
        let other = try await fixture.connect()
        #expect(try await other.ask("command_list_begin\nidle mixer\nping\ncommand_list_end\nnoidle") == ["OK"])
    }

    @Test(.timeLimit(.minutes(1)))
    func `a client that does not read its idle reply does not block the hub`() async throws {
        let fixture = try await MPDFixture()
        let context = MPDContext(
            commands: MPDCommand.all,
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
        #expect(try await stuck.receive(.text("idle mixer")) == .continues)
        await fixture.hub.tell(.mixer)
        #expect(await !stuck.isIdling)
    }

    @Test func `messages reach the subscribers of their channel`() async throws {
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
