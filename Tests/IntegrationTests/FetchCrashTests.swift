import BackgrounderAPI
import Foundation
import Synchronization
import TestSupport
import Testing

/// `kill -9` at random moments of a podcast's fetches, including between the transfers of a run and its end.
@Suite(.sharingLong) struct FetchCrashTests {
    private static let kills = 40

    @Test(.timeLimit(.minutes(10)))
    func `after 40 kills each episode counts as unseen once, and its file is there once, whole`() async throws {
        let service = try Service(
            TestConfiguration(modes: "[fetch]", rest: ["transfers: {allowHTTP: [127.0.0.1]}"])
        )
        let folder = service.file("downloads")
        let server = try TestWebServer()
        let published = Mutex(0)
        let isHeld = Mutex(false)
        server.on("/feed") { _, connection in
            if isHeld.withLock({ $0 }) { connection.wait(milliseconds: 20_000) }
            let items = (1...published.withLock { $0 }).map { number in
                let file = server.url("/\(number)/episode.mp3")
                let attachment = #"{"url":"\#(file)","mime_type":"audio/mpeg"}"#
                return #"{"id":"\#(number)","title":"\#(number)","attachments":[\#(attachment)]}"#
            }
            let feed = #"{"version":"https://jsonfeed.org/version/1.1","items":[\#(items.joined(separator: ","))]}"#
            try connection.reply(200, [:], Array(feed.utf8))
        }
        server.on("*") { request, connection in
            try connection.reply(200, ["ETag": "\"1\""], Array("episode at \(request.path)".utf8))
        }
        try await service.start()
        try await service.run("fetch", "add", "cast", "--url", server.url("/feed"), "--download", folder)
        try await service.run("stop")
        var random = SeededGenerator(seed: 6)
        for round in 1...Self.kills {
            let held = round.isMultiple(of: 5)
            isHeld.withLock { $0 = held }
            published.withLock { $0 += 1 }
            let launch = try ServiceLaunch(service)
            #expect(try await launch.isReady())
            let connection = try service.connection()
            let before = server.requests(to: "/feed").count
            try await connection.begin("POST", "/v1/fetch/cast/run", body: "{}")
            // Makes sure that some runs are killed in the middle.
            if held { try await server.wait(forRequests: before + 1, to: "/feed") }
            // A run takes about 20 ms.
            launch.kill(after: .random(in: 0...0.05, using: &random))
            try await launch.waitForEnd()
        }
        isHeld.withLock { $0 = false }
        try await service.start()
        try await service.run("fetch", "run", "cast")
        // A run ends before its transfers begin.
        let deadline = ContinuousClock.now + .seconds(180)
        var transfers: [Transfer] = []
        repeat {
            try await service.events().wait(forState: "no transfers", within: 180) { $0.status.transfers == nil }
            transfers = try await service.json("transfer", "list")
        } while transfers.count < Self.kills && ContinuousClock.now < deadline
        let source: FetchSource = try await service.json("fetch", "show", "cast")
        #expect(source.unseen == Self.kills)
        let runs: [FetchRun] = try await service.json("fetch", "log", "cast", "-n", "500")
        let brokenOff = runs.count { $0.reason == "the service ended during the fetch" }
        #expect(brokenOff >= Self.kills / 5, "\(brokenOff) interrupted runs")
        #expect(runs.contains { $0.result == .newData })
        #expect(transfers.count == Self.kills)
        #expect(transfers.allSatisfy { $0.state == .done })
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let contents = names.map { name in
            FileManager.default.contents(atPath: "\(folder)/\(name)").map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        let expected = Set((1...Self.kills).map { "episode at /\($0)/episode.mp3" })
        #expect(names.count == Self.kills, "\(names)")
        #expect(Set(contents) == expected, "\(names)")
    }
}
