import BackgrounderAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StateStore

/// Saved sources, contents, runs and opens of the fetch mode.
@Suite struct FetchTests {
    private let fixture: StoreFixture
    private static let state = Data("{}".utf8)
    private static let date = Date(timeIntervalSince1970: 1_795_219_200.5)

    init() throws { fixture = try StoreFixture() }

    private func add(_ source: FetchDefinition, to store: StateStore) async throws {
        try await store.save([.added(source, state: Self.state, isDeclared: false)])
    }

    private static func run(_ id: Int, of source: String = "a") -> FetchRun {
        FetchRun(id: id, source: source, trigger: .due, began: date)
    }

    private static func ended(_ id: Int, of source: String = "a") -> FetchRun {
        var run = run(id, of: source)
        (run.ended, run.duration, run.result, run.status, run.bytes) = (date, 0.25, .newData, 200, 7)
        return run
    }

    @Test func `sources are restored as saved, in the order they were added`() async throws {
        let sources = [
            FetchDefinition(name: "z", url: "http://h/", interval: .minimum, budget: 12.5, download: "/d"),
            FetchDefinition(
                name: "a",
                command: ["/bin/sh", "-c", "echo 'a b'"],
                interval: .custom(90),
                directory: "/t"
            ),
            FetchDefinition(name: "ü", url: "https://h/", kind: .raw),
        ]
        do {
            let store = try fixture.open()
            for source in sources { try await add(source, to: store) }
            try await store.save([.state("a", Data("x".utf8), unseen: 3)])
            var changed = sources[2]
            (changed.interval, changed.budget) = (.custom(60), 1)
            try await store.save([.changed(changed, isDeclared: false)])
            try store.close()
        }
        let saved = try fixture.open().fetchSources()
        #expect(saved.map(\.definition.name) == ["z", "a", "ü"])
        #expect(saved[0].definition == sources[0])
        #expect(saved[1].definition == sources[1])
        #expect(saved[1].state == Data("x".utf8))
        #expect(saved[1].unseen == 3)
        #expect(saved[2].definition.interval == .custom(60))
        #expect(saved[2].definition.budget == 1)
    }

    @Test func `content, result and unseen count are saved in one transaction`() async throws {
        let store = try fixture.open()
        try await add(FetchDefinition(name: "a", url: "http://h/"), to: store)
        try await store.save([.began(Self.run(1))])
        #expect(try store.openFetchRuns() == [Self.run(1)])
        let items = [FetchItem(id: "1", title: "One", published: Self.date)]
        let content = FetchContent(bytes: Data([0, 255, 10]), mediaType: "x/y", items: items)
        let steps: [FetchChange] = [
            .content("a", content, seen: Data("s".utf8)), .ended(Self.ended(1)),
            .state("a", Data("new".utf8), unseen: 1),
        ]
        // An invalid change rolls back the others.
        await #expect(throws: (any Error).self) { try await store.save(steps + [.began(Self.run(2, of: "none"))]) }
        #expect(try await store.fetchContent(of: "a") == nil)
        #expect(try store.fetchSources()[0].state == Self.state)
        #expect(try store.openFetchRuns().count == 1)
        try await store.save(steps)
        #expect(try await store.fetchContent(of: "a") == content)
        #expect(try await store.fetchItems(of: "a") == items)
        #expect(try await store.fetchSeen(of: "a") == Data("s".utf8))
        #expect(try await store.fetchRuns(of: "a", last: 10) == [Self.ended(1)])
        #expect(try store.fetchSources()[0].unseen == 1)
        #expect(try store.openFetchRuns().isEmpty)
        try await store.save([.cleared("a")])
        #expect(try await store.fetchContent(of: "a") == nil)
    }

    @Test func `removing a source deletes all its rows, and run ids are never reused`() async throws {
        let store = try fixture.open()
        try await add(FetchDefinition(name: "a", url: "http://h/"), to: store)
        for id in 1...3 { try await store.save([.began(Self.run(id)), .ended(Self.ended(id))]) }
        try await store.save([.content("a", FetchContent(bytes: Data()), seen: nil)])
        try await store.save([.opened(["a"], FetchOpen(at: Self.date, secondsFromGMT: 3600))])
        try await store.save([.removed("a")])
        for table in ["fetchSource", "fetchContent", "fetchRun", "fetchOpen"] {
            let count = try await store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
            #expect(count == 0, "\(table)")
        }
        #expect(try store.lastFetchRun() == 3)
    }

    @Test func `the newest 500 runs and 121 days of opens are kept`() async throws {
        let store = try fixture.open()
        try await add(FetchDefinition(name: "a", url: "http://h/"), to: store)
        try await store.save((1...520).flatMap { [.began(Self.run($0)), .ended(Self.ended($0))] })
        let runs = try await store.fetchRuns(of: "a", last: 1000)
        #expect(runs.count == 500)
        #expect(runs.first?.id == 21)
        #expect(runs.last?.id == 520)
        let opens = (0..<200).map {
            FetchOpen(at: Self.date.addingTimeInterval(Double($0) * 86_400), secondsFromGMT: -60)
        }
        try await store.save(opens.map { .opened(["a"], $0) })
        let kept = try store.fetchOpens()["a"] ?? []
        #expect(kept == Array(opens.suffix(122)))
    }

    @Test(arguments: [
        "UPDATE fetchSource SET unseen = -1", "UPDATE fetchSource SET command = '[]'",
        "UPDATE fetchSource SET interval = '59'", "UPDATE fetchSource SET budget = 31",
        "UPDATE fetchSource SET url = 'ftp://h'",
        "INSERT INTO fetchRun (source, trigger, began) VALUES ('none', 'due', 1)",
        "INSERT INTO fetchRun (source, trigger, began, ended) VALUES ('a', 'due', 1, 2)",
        "INSERT INTO fetchRun (source, trigger, began, ended, result) VALUES ('a', 'due', 1, 2, 'failed')",
    ])
    func `the schema rejects invalid rows`(sql: String) async throws {
        let store = try fixture.open()
        try await add(FetchDefinition(name: "a", url: "http://h/"), to: store)
        await #expect(throws: DatabaseError.self) { try await store.database.write { try $0.execute(sql: sql) } }
    }
}
