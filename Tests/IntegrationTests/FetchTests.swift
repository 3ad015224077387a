import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// Background fetch with the real programs.
@Suite(.sharing) struct FetchTests {
    private let server: TestWebServer
    private let service: Service
    private static let feed =
        #"{"version":"https://jsonfeed.org/version/1.1","title":"t","items":[{"id":"1","title":"One"}]}"#

    init() throws {
        server = try TestWebServer()
        service = try Service(TestConfiguration(modes: "[fetch]"))
        server.on("/feed") { request, connection in
            if request.headers["if-none-match"] == "\"1\"" { return try connection.reply(304) }
            try connection.reply(200, ["ETag": "\"1\""], Array(Self.feed.utf8))
        }
    }

    private func add(_ name: String, _ path: String, _ options: String...) async throws {
        let run = try await service.command(["fetch", "add", name, "--url", server.url(path)] + options)
        try #require(run.exitCode == 0, "\(run)")
    }

    @Test func `unencrypted http is refused for hosts that are not allowed, as for transfers`() async throws {
        try await service.start()
        let words = ["unencrypted http to h.example is not allowed; use https, or add h.example to transfers.allowHTTP"]
        let url = "http://h.example/feed"
        try await service.command(["fetch", "add", "n", "--url", url]).expectRefusal(1, words)
        try await service.command(["transfer", "get", url, service.file("downloads/")]).expectRefusal(1, words)
        // A source that was allowed before fails with the reason.
        let local = server.url("/feed").replacing("127.0.0.1", with: "localhost")
        server.reply(to: "/feed", body: "x")
        let credentials = try service.scratch.write("user = ann\npassword = secret\n", to: "credentials")
        chmod(credentials, 0o600)
        let options = ["--kind", "raw", "--credentials", credentials]
        let lines = { (hosts: String) in ["transfers: {allowHTTP: [\(hosts)]}"] }
        try await service.run("stop")
        try service.configure(TestConfiguration(modes: "[fetch]", rest: lines("localhost")))
        try await service.start()
        try await service.run(["fetch", "add", "n", "--url", local] + options)
        try await service.run("stop")
        try service.configure(TestConfiguration(modes: "[fetch]", rest: lines("")))
        try await service.start()
        let failed = try await service.command(["fetch", "run", "n"])
        #expect(failed.exitCode == 1, "\(failed)")
        let list = try await service.run("fetch", "list").text
        #expect(list.contains("\nn: failed: unencrypted http to localhost is not allowed; use https"), "\(list)")
        #expect(server.requests().isEmpty)
        // Without credentials, a source on this machine needs no TLS.
        try await service.run("fetch", "add", "here", "--url", local, "--kind", "raw")
        try await service.run("fetch", "run", "here")
        #expect(server.requests().count == 1)
    }

    @Test func `a fetched feed is shown, marked as seen by attaching, and fetched again conditionally`() async throws {
        try await service.start()
        try await add("news", "/feed", "--interval", "minimum")
        #expect(try await service.run("fetch", "list").text.contains("Not yet updated"))
        let text = try await service.run("fetch", "run", "news").text
        let lines = /news: New data was fetched\.\nnews: Background Fetch Duration: \d+\.\d{6} seconds\n/
        #expect(text.prefixMatch(of: lines) != nil, "\(text)")
        let second: FetchRun = try await service.json("fetch", "simulate", "news")
        #expect(second.result == .noData)
        #expect(second.status == 304)
        #expect(second.trigger == .simulate)
        var source: FetchSource = try await service.json("fetch", "show", "news")
        #expect(source.unseen == 1)
        #expect(source.updated != nil)
        #expect(source.next != nil)
        #expect(source.why?.isEmpty == false)
        let items: [FetchItem] = try await service.json("fetch", "items", "news")
        #expect(items.map(\.title) == ["One"])
        #expect(try await service.run("fetch", "content", "news").text == Self.feed)
        let status: ServiceStatus = try await service.json("status")
        #expect(status.fetch?.map(\.name) == ["news"])
        #expect(status.state == .suspended)
        let plan: [PlanEntry] = try await service.json("fetch", "plan")
        #expect(!plan.isEmpty)
        #expect(plan.allSatisfy { $0.source == "news" })
        // Attaching marks the items as seen.
        let events = try service.events(attach: true)
        try await events.wait(forState: "the first state") { $0.status.fetch?.first?.unseen == 0 }
        source = try await service.json("fetch", "show", "news")
        #expect(source.unseen == 0)
        try await service.run("fetch", "run", "news")
        try await events.wait(for: "the event of the run") { received in
            received.payloads("fetch").contains { $0.contains("\"result\":\"noData\"") } ? true : nil
        }
        let log = service.logLines().map { $0.drop { $0 != " " }.dropFirst() }
        #expect(log.contains("info news: New data was fetched."))
        #expect(log.contains("info news: No new data found."))
        #expect(log.contains { $0.hasPrefix("info news: Background Fetch Duration: ") && $0.hasSuffix(" seconds") })
    }

    @Test func `a crash loses no fetched data and records the interrupted run as failed`() async throws {
        try await service.start()
        try await add("news", "/feed")
        try await service.run("fetch", "run", "news")
        try await service.run("fetch", "add", "slow", "--exec", "sleep 1000")
        let connection = try service.connection()
        try await connection.begin("POST", "/v1/fetch/slow/run", body: "{}")
        try await service.events().wait(forState: "the run") { $0.status.fetch?.last?.pending != nil }
        try await service.crash()
        try await service.start()
        let runs: [FetchRun] = try await service.json("fetch", "log", "slow")
        try #require(runs.map(\.result) == [.failed])
        #expect(runs[0].reason == "the service ended during the fetch")
        let news: FetchSource = try await service.json("fetch", "show", "news")
        #expect(news.unseen == 1)
        let again: FetchRun = try await service.json("fetch", "run", "news")
        #expect(again.result == .noData)
        #expect(again.status == 304)
        #expect(again.id == 3)
    }

    @Test func `a start for one fetch exits with the code of its result, with and without a service`() async throws {
        try await service.start()
        try await add("news", "/feed")
        try await add("bad", "/none")
        let expected: [(String, Int32)] = [("news", 0), ("news", 3), ("bad", 1), ("absent", 4), ("", 4)]
        for isRunning in [true, false] {
            if !isRunning {
                try await service.run("fetch", "clear", "news")
                try await service.run("stop")
            }
            for (name, code) in expected {
                let run = try await ProgramRun.of(
                    Products.backgrounderd,
                    ["--launch-for-fetch", name],
                    environment: service.environment
                )
                #expect(run.exitCode == code, "\(run)")
                if code == 1 || code == 4 { run.expectOneLine([name.isEmpty ? "no source" : name]) }
            }
        }
        try await service.start()
        let runs: [FetchRun] = try await service.json("fetch", "log", "news")
        #expect(runs.map(\.trigger) == Array(repeating: .launch, count: 4))
    }

    @Test func `a switched-off source or an undeclared mode does not fetch and says why`() async throws {
        try await service.start()
        try await add("news", "/feed")
        try await service.run("refresh", "off", "news")
        try await service.command(["fetch", "simulate", "news"]).expectRefusal(1, ["news is off", "refresh on news"])
        try await service.run("refresh", "on", "news")
        try await service.run("quit", "news")
        try await service.run("stop")
        try await service.start()
        let reply: RefreshReply = try await service.json("refresh")
        #expect(reply.status == .available)
        #expect(reply.sources.map(\.status) == [.denied])
        try await service.run("fetch", "open", "news")
        #expect(try await service.json("refresh", as: RefreshReply.self).sources.map(\.status) == [.available])
        try service.configure(TestConfiguration(modes: "[audio]"))
        try await service.run("reload")
        #expect(try await service.json("refresh", as: RefreshReply.self).status == .restricted)
        try await service.command(["fetch", "run", "news"]).expectRefusal(1, ["fetch is not in modes"])
    }

    @Test func `bad input gets one line and its exit code, and changes nothing`() async throws {
        try await service.start()
        try await add("news", "/feed")
        let url = server.url("/feed")
        let wrong: [([String], Int32, String)] = [
            (["fetch", "add", "x"], 64, "--url or --exec"),
            (["fetch", "add", "x", "--url", "ftp://h/"], 64, "http://"),
            (["fetch", "add", "x", "--url", url, "--exec", "date"], 64, "pass one of them"),
            (["fetch", "add", "x y", "--url", url], 64, "not a valid source name"),
            (["fetch", "add", "x", "--url", url, "--interval", "59"], 64, "60s"),
            (["fetch", "add", "x", "--url", url, "--interval", "soon"], 64, "minimum"),
            (["fetch", "add", "x", "--url", url, "--budget", "31s"], 64, "at most 30 s"),
            (["fetch", "add", "x", "--url", url, "--kind", "page"], 64, "feed"),
            (["fetch", "add", "x", "--url", url, "--download", "/etc"], 1, "transfers.roots"),
            (["fetch", "add", "news", "--url", url], 1, "already"), (["fetch", "set", "news"], 64, "nothing to set"),
            (["fetch", "show", "none"], 4, "no source"), (["fetch", "run", "none"], 4, "no source"),
            (["fetch", "remove", "none"], 4, "no source"), (["refresh", "off", "none"], 4, "no source"),
            (["fetch", "show", ""], 4, "name"), (["fetch", "remove", ""], 4, "name"),
            (["fetch", "content", ""], 4, "name"),
            (["fetch", "add", "x", "--url", url, "--download", ""], 64, "folder"), (["quit", "none"], 4, "no source"),
            (["fetch", "content", "news"], 1, "Not yet updated"),
            (["fetch", "log", "news", "-n", "0"], 64, "1 to 500"),
        ]
        for (arguments, code, words) in wrong {
            try await service.command(arguments).expectRefusal(code, [words])
        }
        let sources: [FetchSource] = try await service.json("fetch", "list")
        #expect(sources.map(\.name) == ["news"])
        try await service.run("fetch", "remove", "news")
        try await service.run("stop")
        try await service.command(["fetch", "list"]).expectRefusal(3, ["not running"])
    }
}
