import BackgroundFetch
import BackgrounderAPI
import Testing

/// Sources that the configuration declares.
@Suite struct FetchDeclarationTests {
    @Test func `declared sources are added, changed and removed, and those of commands stay`() async throws {
        let rig = try await FetchRig()
        try await rig.add("own")
        let news = FetchDefinition(name: "news", url: "http://news/", kind: .raw)
        var disk = FetchDefinition(name: "disk", command: ["df"])
        try await rig.scheduler.declare([news, disk], in: "/c.yaml")
        #expect(await rig.scheduler.list().map(\.name) == ["own", "news", "disk"])
        #expect(await rig.scheduler.list().map(\.declared) == [false, true, true])
        _ = try await rig.scheduler.run("news", .manual)
        // A change of the interval keeps the content; one of the command does not.
        var slower = news
        slower.interval = .custom(3600)
        disk.command = ["df", "-h"]
        try await rig.scheduler.declare([slower, disk], in: "/c.yaml")
        #expect(try await rig.scheduler.source("news").interval == .custom(3600))
        #expect(try await rig.scheduler.source("news").updated != nil)
        #expect(try await rig.scheduler.source("disk").command == ["df", "-h"])
        await #expect(throws: FetchError.declared("news", file: "/c.yaml")) { try await rig.scheduler.remove("news") }
        await #expect(throws: FetchError.declared("news", file: "/c.yaml")) {
            _ = try await rig.scheduler.change("news", FetchSourceChange(interval: .never))
        }
        // A restart knows which sources are declared.
        let next = try await FetchRig(journal: rig.journal)
        #expect(await next.scheduler.list().filter(\.declared).map(\.name).sorted() == ["disk", "news"])
        let own = FetchDefinition(name: "own", url: "http://own/", kind: .raw)
        try await next.scheduler.declare([own], in: "/c.yaml")
        #expect(await next.scheduler.list().map(\.name) == ["own"])
        #expect(await next.scheduler.list().map(\.declared) == [true])
        try await next.scheduler.declare([], in: "/c.yaml")
        #expect(await next.scheduler.list().isEmpty)
        #expect(next.journal.saved.sources.isEmpty)
    }

    @Test func `declarations that cannot be stored change nothing`() async throws {
        let rig = try await FetchRig()
        let news = FetchDefinition(name: "news", url: "http://news/", kind: .raw)
        try await rig.scheduler.declare([news], in: "/c.yaml")
        rig.journal.refuse("full")
        await #expect(throws: FetchError.self) { try await rig.scheduler.declare([], in: "/c.yaml") }
        #expect(await rig.scheduler.list().map(\.name) == ["news"])
        rig.journal.refuse(nil)
        // Without a change, nothing is written.
        rig.journal.refuse("full")
        try await rig.scheduler.declare([news], in: "/c.yaml")
    }
}
