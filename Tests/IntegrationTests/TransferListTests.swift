import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// The lists of transfers and sessions, and waits for a transfer.
@Suite(.sharing) struct TransferListTests {
    @Test func `a wait ends with its timeout, and the transfer continues`() async throws {
        let service = try Service.forTransfers()
        try await service.start()
        let server = try TestWebServer()
        let file = TestWebFile(size: 2_000_000, seed: 1) { $0.rate = 300_000 }
        server.on("/f", file.script)
        server.reply(to: "/in", 201)
        let arguments = ["transfer", "get", server.url("/f"), service.file("downloads/f"), "--wait", "--timeout", "3s"]
        let run = try await service.command(arguments)
        #expect(run.exitCode == 1, "\(run)")
        #expect(run.text == "1\n", "\(run)")
        run.expectOneLine(["transfer 1 is not over after 3s, and continues; `backgrounder transfer list`"])
        let running: [Transfer] = try await service.json("transfer", "list")
        let transfer = try #require(running.first)
        #expect(transfer.state == .running, "\(transfer)")
        let rate = try #require(transfer.rate)
        #expect(rate > 100_000)
        #expect(rate < 900_000)
        #expect((try #require(transfer.remaining)) > 0)
        let events = try service.events()
        try await events.wait(forState: "no transfers", within: 60) { $0.status.transfers == nil }
        #expect(FileManager.default.contents(atPath: service.file("downloads/f"))?.count == 2_000_000)
        // As JSON, the transfer is printed as it is at the end of the wait.
        let late = try await service.command(
            ["transfer", "get", server.url("/f"), service.file("downloads/g"), "--wait", "--timeout", "500ms"]
                + ["--format", "json"]
        )
        #expect(late.exitCode == 1, "\(late)")
        #expect(try JSON.decode(Transfer.self, from: late.output).id == 2)
        let done = try await service.run(
            "transfer",
            "put",
            service.file("config.yaml"),
            server.url("/in"),
            "--wait",
            "--timeout",
            "1m"
        )
        #expect(done.text == "3\n")
    }

    @Test func `a reload applies the defaults of declared sessions to new transfers`() async throws {
        let service = try Service.forTransfers()
        try await service.start()
        let server = try TestWebServer()
        server.reply(to: "/x", body: "hello")
        let transfers = "transfers: {allowHTTP: [127.0.0.1], sessions: {maps: {exists: rename, sizeMax: 3}}}"
        try service.configure(TestConfiguration(modes: "[]", rest: [transfers]))
        let reply: ReloadReply = try await service.json("reload")
        #expect(reply.applied == ["modes", "transfers.sessions"] || reply.applied == ["transfers.sessions"])
        #expect(reply.needsRestart.isEmpty)
        let get = ["transfer", "get", server.url("/x"), service.file("downloads/x"), "--session", "maps", "--wait"]
        let large = try await service.command(get)
        #expect(large.exitCode == 1, "\(large)")
        for _ in 0..<2 { try await service.run(get + ["--size-max", "10"]) }
        let failed = try await service.command(get + ["--size-max", "10", "--exists", "fail"])
        #expect(failed.errors.contains("already exists"), "\(failed)")
        let sessions: [SessionStatus] = try await service.json("transfer", "sessions")
        #expect(sessions.map(\.name) == ["maps"])
        #expect(sessions.map(\.declared) == [true])
        #expect(sessions.map(\.events) == [3])
        let table = try await service.run("transfer", "sessions").text
        #expect(table.contains("maps  in file     0       3  exists rename, at most 3 bytes"), "\(table)")
    }

    @Test func `ended transfers are cleared for good, and open ones continue`() async throws {
        let service = try Service.forTransfers()
        try await service.start()
        let server = try TestWebServer()
        server.reply(to: "/x", body: "x")
        try await service.run("transfer", "get", server.url("/x"), service.file("downloads/x"), "--wait")
        try await service.run("transfer", "get", "http://127.0.0.1:9/y", service.file("downloads/y"))
        try await service.run("transfer", "pause", "2")
        #expect(try await service.run("transfer", "clear").text == "removed 1 transfer\n")
        let again: ClearReply = try await service.json("transfer", "clear")
        #expect(again.removed == 0)
        try await service.crash()
        try await service.start()
        let list: [Transfer] = try await service.json("transfer", "list")
        #expect(list.map(\.id) == [2])
        #expect(FileManager.default.contents(atPath: service.file("downloads/x")) == Data("x".utf8))
        let events: [TransferEvent] = try await service.json("transfer", "events", "default")
        #expect(events.map(\.transfer) == [1])
    }
}
