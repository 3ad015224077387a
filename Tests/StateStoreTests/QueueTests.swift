import BackgrounderAPI
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import StateStore

@Suite struct QueueTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    private func items(_ ids: [Int]) -> [PlayerItem] {
        ids.enumerated().map { PlayerItem(id: $1, position: $0, path: "/music/\($1).mp3") }
    }

    @Test func `The queue comes back in its order`() async throws {
        let store = try fixture.open()
        let queue = items([5, 3, 9, 1])
        try await store.save(queue: queue, state: .sample)
        #expect(try store.queue() == queue)
        try await store.save(queue: [], state: .sample)
        #expect(try store.queue().isEmpty)
        try store.close()
    }

    @Test func `Only rows that differ are written`() async throws {
        let store = try fixture.open()
        var queue = items(Array(1...1000))
        try await store.save(queue: queue, state: .sample)
        let writes = WriteCounter(store)
        try await store.save(queue: queue, state: .sample)
        #expect(writes.take() == [])
        queue[500].title = "Named"
        try await store.save(queue: queue, state: .sample)
        #expect(writes.take() == ["update 501"])
        queue[500].title = nil
        queue[7].duration = 3
        try await store.save(queue: queue, state: .sample)
        #expect(writes.take() == ["update 8", "update 501"])
        queue.append(PlayerItem(id: 2000, position: 1000, path: "/new.wav"))
        try await store.save(queue: queue, state: .sample)
        #expect(writes.take() == ["insert 2000"])
        queue.removeLast()
        try await store.save(queue: queue, state: .sample)
        #expect(writes.take() == ["delete 2000"])
        queue.swapAt(0, 1)
        for index in queue.indices { queue[index].position = index }
        try await store.save(queue: queue, state: .sample)
        #expect(writes.take() == ["update 1", "update 2"])
        #expect(try store.queue() == queue)
        try store.close()
    }

    @Test func `A queue that the schema refuses changes neither queue nor state`() async throws {
        let store = try fixture.open()
        try await store.save(queue: items([1, 2]), state: .sample)
        let bad = items([1, 3]) + [PlayerItem(id: 4, position: 2, path: "relative.mp3")]
        await #expect(throws: DatabaseError.self) {
            try await store.save(queue: bad, state: StateRecord(name: "location", value: Data("new".utf8)))
        }
        #expect(try store.queue() == items([1, 2]))
        #expect(try store.state("location") == StateRecord.sample.value)
        try store.close()
    }
}

/// The rows of the queue that were written, as SQLite tells it.
private final class WriteCounter: TransactionObserver, Sendable {
    private let writes = Mutex<[String]>([])

    init(_ store: StateStore) {
        store.database.add(transactionObserver: self, extent: .databaseLifetime)
    }

    /// What was written since the last call, in the order of the ids.
    func take() -> [String] {
        writes.withLock { writes in
            defer { writes = [] }
            return writes.sorted { $0.count == $1.count ? $0 < $1 : $0.count < $1.count }
        }
    }

    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { kind.tableName == "queueItem" }

    func databaseDidChange(with event: DatabaseEvent) {
        let kind =
            switch event.kind {
            case .insert: "insert"
            case .delete: "delete"
            case .update: "update"
            }
        writes.withLock { $0.append("\(kind) \(event.rowID)") }
    }

    func databaseDidCommit(_ database: Database) {}
    func databaseDidRollback(_ database: Database) {}
}
