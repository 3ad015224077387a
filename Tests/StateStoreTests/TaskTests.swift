import BackgrounderAPI
import GRDB
import SystemSupport
import TestSupport
import Testing

@testable import StateStore

@Suite struct TaskTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private static func record(_ id: Int = 0, name: String = "backup") throws -> TaskRecord {
        var running = RunningCommand(pid: 12, start: 345, keeper: 11)
        running.aloneSince = 9
        return TaskRecord(
            task: BackgroundTask(
                id: id,
                name: name,
                command: ["sync", "-a", "\"quoted\""],
                state: .running,
                budget: 30.000_000_001,
                grace: 5,
                used: 1.234,
                strict: true,
                repeat: true,
                pid: 12,
                exitStatus: nil,
                detail: "d"
            ),
            directory: "/d",
            environment: ["B": "2", "A": "1"],
            times: try TaskTimes(budget: .nanoseconds(30_000_000_001), grace: .seconds(5)),
            used: .nanoseconds(1_234_567_890),
            countingSince: .nanoseconds(77),
            boot: "b",
            running: running,
            isEndRequested: true,
            position: 4
        )
    }

    private func read(_ store: StateStore) throws -> [TaskRecord] {
        try store.tasks { id, error in Issue.record("task \(id): \(error)") }
    }

    @Test func `a task is restored as stored, to the nanosecond`() async throws {
        var store = try fixture.open()
        let id = try await store.add(Self.record())
        try store.close()
        store = try fixture.open()
        #expect(try read(store) == [Self.record(id)])
    }

    @Test func `the columns hold JSON with sorted keys, and nanoseconds`() async throws {
        let store = try fixture.open()
        _ = try await store.add(Self.record())
        let found = try store.database.read { try Row.fetchOne($0, sql: "SELECT * FROM task") }
        let row = try #require(found)
        #expect(row["command"] == #"["sync","-a","\"quoted\""]"#)
        #expect(row["environment"] == #"{"A":"1","B":"2"}"#)
        #expect(row["running"] == #"{"aloneSince":9,"keeper":11,"pid":12,"start":345,"wasAskedToEnd":false}"#)
        #expect(row["budget"] == 30_000_000_001)
        #expect(row["grace"] == 5_000_000_000)
        #expect(row["used"] == 1_234_567_890)
        #expect(row["countingSince"] == 77)
    }

    @Test func `an update changes the state of a task, not its command and settings`() async throws {
        let store = try fixture.open()
        let id = try await store.add(Self.record())
        var changed = try Self.record(id, name: "other")
        changed.task.state = .finished
        changed.task.exitStatus = 0
        changed.countingSince = nil
        changed.running = nil
        try await store.save([changed])
        changed.task.name = "backup"
        #expect(try read(store) == [changed])
        try await store.removeTasks([id])
        #expect(try read(store) == [])
    }

    @Test(arguments: ["running = '{}'", "command = '[1]'", "environment = '{1}'", "budget = 900000000000"])
    func `a task that cannot be read is left out`(change: String) async throws {
        let store = try fixture.open()
        let ids = [try await store.add(Self.record()), try await store.add(Self.record())]
        try await store.database.write { try $0.execute(sql: "UPDATE task SET \(change) WHERE id = \(ids[0])") }
        var unreadable: [Int] = []
        let tasks = try store.tasks { id, _ in unreadable.append(id) }
        #expect(tasks == [try Self.record(ids[1])])
        #expect(unreadable == [ids[0]])
    }
}
