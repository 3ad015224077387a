import BackgrounderAPI
import SystemSupport
import Testing

@testable import AudioPlayback

/// Priorities of items while `random` is on, as in MPD.
@Suite struct PriorityTests {
    private func queue(_ count: Int, random: Bool = true, repeats: Bool = false, seed: Int = 7) throws -> PlayerQueue {
        let options = PlayerOptions(repeat: repeats, random: random)
        var queue = PlayerQueue(state: PlayerState(options: options), seed: UInt64(seed))
        _ = try queue.insert(paths: (0..<count).map { "/\($0)" })
        return queue
    }

    /// The ids in the order in which they will be played, from the current or first one on.
    private func order(_ queue: PlayerQueue) -> [Int] { queue.upcoming(queue.count) }

    @Test(arguments: 0..<10)
    func `higher priorities are played first, equal ones in random order`(seed: Int) throws {
        var queue = try queue(30, seed: seed)
        try queue.prioritise(ids: [3, 4, 5, 6, 7], 10)
        try queue.prioritise(ids: [20, 21], 200)
        let order = order(queue)
        #expect(Set(order.prefix(2)) == [20, 21])
        #expect(Set(order[2..<7]) == [3, 4, 5, 6, 7])
        #expect(Set(order) == Set(1...30))
        #expect(queue.item(20)?.priority == 200)
        #expect(queue.item(1)?.priority == nil)
        try queue.prioritise(ids: [20, 21], 0)
        #expect(queue.item(20)?.priority == nil)
        #expect(Set(self.order(queue).prefix(5)) == [3, 4, 5, 6, 7])
    }

    @Test func `without random the order of the queue stays, and turning random on applies the priorities`() throws {
        var queue = try queue(10, random: false)
        try queue.prioritise(ids: [9], 1)
        #expect(order(queue) == Array(1...10))
        try queue.select(id: 4)
        queue.set(PlayerOptions(random: true))
        #expect(order(queue).prefix(2) == [4, 9])
    }

    @Test func `an item that was played comes again only if it outranks the current one`() throws {
        var queue = try queue(10)
        let chosen = queue.selectFirst()
        let first = try #require(chosen).id
        guard case .play(let second) = queue.next(), case .play(let third) = queue.next() else {
            return #expect(Bool(false))
        }
        try queue.prioritise(ids: [third], 5)
        #expect(queue.currentID == third)
        try queue.prioritise(ids: [second], 5)
        #expect(!order(queue).contains(second), "it does not outrank the current item")
        try queue.prioritise(ids: [first], 6)
        #expect(order(queue).prefix(2) == [third, first])
        #expect(order(queue).count == 9)
    }

    @Test func `new items wait behind those with a priority, and each round begins with these`() throws {
        var queue = try queue(5, repeats: true)
        try queue.prioritise(ids: [2, 5], 9)
        _ = try queue.insert(paths: (0..<20).map { "/new\($0)" })
        #expect(Set(order(queue).prefix(2)) == [2, 5])
        _ = queue.selectFirst()
        for _ in 0..<25 { _ = queue.next() }
        #expect(queue.currentID.map { [2, 5].contains($0) } == true)
        #expect(Set(order(queue).prefix(2)) == [2, 5])
    }

    @Test func `an unknown id changes nothing, and changes are recorded once`() throws {
        var queue = try queue(3)
        _ = queue.takeChanges()
        let version = queue.version
        #expect(throws: PlayerError.noSuchItem(id: 9)) { try queue.prioritise(ids: [1, 9], 4) }
        #expect(queue.item(1)?.priority == nil)
        #expect(queue.version == version)
        try queue.prioritise(ids: [1, 2], 4)
        #expect(queue.items(changedSince: version).map(\.id) == [1, 2])
        #expect(queue.takeChanges() == [.prioritised([1, 2], 4)])
        try queue.prioritise(ids: [1, 2], 4)
        #expect(queue.takeChanges().isEmpty)
    }
}
