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

    @Test func `the queue is read back in its order`() async throws {
        let store = try fixture.open()
        let queue = items([5, 3, 9, 1])
        try await store.save([.replaced(queue)], state: .sample)
        #expect(try store.queue() == queue)
        try await store.save([.replaced([])], state: .sample)
        #expect(try store.queue().isEmpty)
        try store.close()
    }

    @Test func `replacing the queue writes only the rows that differ`() async throws {
        let store = try fixture.open()
        var queue = items(Array(1...1000))
        try await store.save([.replaced(queue)], state: .sample)
        let writes = WriteCounter(store)
        try await store.save([.replaced(queue)], state: .sample)
        #expect(writes.take() == [])
        queue[500].title = "Named"
        try await store.save([.replaced(queue)], state: .sample)
        #expect(writes.take() == ["update 501"])
        queue[500].title = nil
        queue[7].duration = 3
        try await store.save([.replaced(queue)], state: .sample)
        #expect(writes.take() == ["update 8", "update 501"])
        queue.append(PlayerItem(id: 2000, position: 1000, path: "/new.wav"))
        try await store.save([.replaced(queue)], state: .sample)
        #expect(writes.take() == ["insert 2000"])
        queue.removeLast()
        try await store.save([.replaced(queue)], state: .sample)
        #expect(writes.take() == ["delete 2000"])
        queue.swapAt(0, 1)
        for index in queue.indices { queue[index].position = index }
        try await store.save([.replaced(queue)], state: .sample)
        #expect(writes.take() == ["update 1", "update 2"])
        #expect(try store.queue() == queue)
        try store.close()
    }

    @Test(arguments: 0..<6)
    func `random changes lead to the same queue in the store as in memory`(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let store = try fixture.open()
        var queue: [PlayerItem] = []
        var nextID = 1
        for _ in 0..<40 {
            var changes: [QueueChange] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let change = Self.change(of: queue, &nextID, &random)
                queue.take(change)
                changes.append(change)
            }
            try await store.save(changes, state: .sample)
            #expect(try store.queue() == queue)
        }
        try store.close()
    }

    private static func change(
        of queue: [PlayerItem],
        _ nextID: inout Int,
        _ random: inout SeededGenerator
    ) -> QueueChange {
        let place = Int.random(in: 0...queue.count, using: &random)
        let range = place..<min(queue.count, place + Int.random(in: 1...4, using: &random))
        var rest = queue
        switch Int.random(in: 0..<9, using: &random) {
        case 0 where !range.isEmpty: return .removed(queue[range].map(\.id))
        case 1, 2:
            guard !range.isEmpty else { break }
            rest.removeSubrange(range)
            let target = Int.random(in: 0...rest.count, using: &random)
            return .moved(queue[range].map(\.id), Self.place(target, in: rest))
        case 3:
            guard var item = queue.randomElement(using: &random) else { break }
            item.title = "\(random.next())"
            item.duration = 3
            return .described(item)
        case 4 where queue.count > 20:
            return .replaced(
                queue.shuffled(using: &random).enumerated().map { position, item in
                    PlayerItem(id: item.id, position: position, path: item.path)
                }
            )
        case 6 where !range.isEmpty:
            return .prioritised(queue[range].map(\.id), Int.random(in: 0...255, using: &random))
        case 5: return .moved(queue.shuffled(using: &random).map(\.id), QueuePlace())
        default: break
        }
        let new = (0..<Int.random(in: 1...5, using: &random)).map {
            PlayerItem(id: nextID + $0, position: 0, path: "/\($0)")
        }
        nextID += new.count
        return .inserted(new, Self.place(place, in: queue))
    }

    private static func place(_ position: Int, in queue: [PlayerItem]) -> QueuePlace {
        QueuePlace(
            after: position > 0 ? queue[position - 1].id : nil,
            before: position < queue.count ? queue[position].id : nil
        )
    }

    @Test func `an insert, a move and a removal write only the affected rows`() async throws {
        let store = try fixture.open()
        try await store.save([.inserted(items(Array(1...1000)), QueuePlace())], state: .sample)
        let writes = WriteCounter(store)
        let new = PlayerItem(id: 2000, position: 0, path: "/new.wav")
        try await store.save([.inserted([new], QueuePlace(after: 500, before: 501))], state: .sample)
        #expect(writes.take() == ["insert 2000"])
        try await store.save([.moved([2000], QueuePlace(before: 1))], state: .sample)
        #expect(writes.take() == ["update 2000"])
        try await store.save([.removed([2000])], state: .sample)
        #expect(writes.take() == ["delete 2000"])
        try await store.save([.unreadable(7)], state: .sample)
        #expect(try store.unreadableItems() == [7])
        try await store.save([.described(items([7])[0])], state: .sample)
        #expect(try store.unreadableItems() == [])
        try store.close()
    }

    @Test(arguments: [(false, 0), (true, 1)])
    func `a description of an item is synced only together with a new state`(isStateNew: Bool, syncs: Int)
        async throws
    {
        let other = try fixture.open(syncInterval: .seconds(3600))
        try await other.save([.inserted(items([7]), QueuePlace())], state: .sample)
        let store = try fixture.open(syncInterval: .seconds(3600))
        let synced = try LogSyncs(of: store)
        try await store.save([.described(items([7])[0])], state: .sample, isStateNew: isStateNew)
        // Closing syncs what waits for it. The last connection that closes syncs, too.
        try store.close()
        #expect(synced.count == syncs)
        try other.close()
    }

    @Test func `a thousand items fit between two neighbours, even in a queue of the first version`()
        async throws
    {
        let store = try fixture.open()
        try await store.save([.inserted(items([1, 2, 3]), QueuePlace())], state: .sample)
        try await store.database.write { database in
            try database.execute(sql: "UPDATE queueItem SET position = id - 1")
        }
        var queue = try store.queue()
        for id in 10..<1010 {
            let change = QueueChange.inserted(
                [PlayerItem(id: id, position: 0, path: "/\(id)")],
                QueuePlace(after: 1, before: queue[1].id)
            )
            queue.take(change)
            try await store.save([change], state: .sample)
        }
        #expect(try store.queue() == queue)
        try store.close()
    }

    @Test func `changes that name an unknown item are refused as a whole`() async throws {
        let store = try fixture.open()
        try await store.save([.inserted(items([1, 2]), QueuePlace())], state: .sample)
        await #expect(throws: (any Error).self) {
            try await store.save([.removed([1]), .moved([2], QueuePlace(after: 9))], state: .sample)
        }
        #expect(try store.queue() == items([1, 2]))
        try store.close()
    }

    @Test func `a queue that the schema rejects changes neither queue nor state`() async throws {
        let store = try fixture.open()
        try await store.save([.replaced(items([1, 2]))], state: .sample)
        let bad = items([1, 3]) + [PlayerItem(id: 4, position: 2, path: "relative.mp3")]
        await #expect(throws: DatabaseError.self) {
            try await store.save([.replaced(bad)], state: StateRecord(name: "location", value: Data("new".utf8)))
        }
        #expect(try store.queue() == items([1, 2]))
        #expect(try store.state("location") == StateRecord.sample.value)
        try store.close()
    }
}

/// Records the rows of the queue that SQLite writes.
private final class WriteCounter: TransactionObserver, Sendable {
    private let writes = Mutex<[String]>([])

    init(_ store: StateStore) {
        store.database.add(transactionObserver: self, extent: .databaseLifetime)
    }

    /// Returns the writes since the last call, ordered by id.
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
