import BackgrounderAPI
import TestSupport
import Testing

@testable import AudioPlayback
@testable import MediaFiles

/// The module under test has its own type of this name.
private typealias SplitMix = TestSupport.SeededGenerator

/// Compares the queue with a simple model through thousands of random changes.
@Suite(.computing) struct QueuePropertyTests {
    /// A model of the queue as a plain list, without regard to speed.
    private struct Model {
        var ids: [Int] = []
        var current: Int?
        var options = PlayerOptions()

        mutating func remove(_ gone: Set<Int>) {
            if let id = current, gone.contains(id) {
                let index = ids.firstIndex(of: id) ?? 0
                let behind = ids[(index + 1)...] + (options.repeat ? ids[..<index] : [])
                current = behind.first { !gone.contains($0) }
            }
            ids.removeAll(where: gone.contains)
        }

        mutating func leave() {
            guard let id = current, let index = ids.firstIndex(of: id) else { return }
            let isLast = index + 1 == ids.count
            current = isLast ? (options.repeat ? ids.first : nil) : ids[index + 1]
            if options.consume {
                if current == id { current = nil }
                ids.remove(at: index)
            }
        }

        mutating func previous() {
            guard let id = current, let index = ids.firstIndex(of: id) else { return }
            current = index > 0 ? ids[index - 1] : options.repeat ? ids.last : id
        }
    }

    /// A reader that only asks for changes.
    private struct Follower {
        var version = 0
        var items: [PlayerItem] = []

        mutating func follow(_ queue: PlayerQueue) {
            items.removeLast(max(0, items.count - queue.count))
            for item in queue.items(changedSince: version) {
                if item.position == items.count { items.append(item) } else { items[item.position] = item }
            }
            version = queue.version
        }
    }

    @Test(arguments: 0..<20)
    func `random changes give the same queue as a plain list, and journal and followers agree`(seed: Int) throws {
        var random = SplitMix(seed: UInt64(seed))
        var queue = PlayerQueue(seed: UInt64(seed))
        var model = Model()
        var stored: [PlayerItem] = []
        var follower = Follower()
        var ids: Set<Int> = []
        for step in 0..<200 {
            try change(&queue, &model, &random)
            #expect(queue.items.map(\.id) == model.ids, "step \(step)")
            #expect(queue.currentID == model.current, "step \(step)")
            if step % 7 == 0 {
                #expect(queue.items.map(\.position) == Array(0..<model.ids.count))
                #expect(queue.items.allSatisfy { queue.item($0.id) == $0 })
                for change in queue.takeChanges() { stored.take(change) }
                #expect(stored == queue.items, "step \(step)")
                follower.follow(queue)
                #expect(follower.items == queue.items, "step \(step)")
            }
            ids.formUnion(model.ids)
            guard queue.items.map(\.id) == model.ids else { break }
        }
        #expect(ids.count == queue.nextItemID - 1)
    }

    /// Applies one random step to both; with `random` on, only a step that does not depend on its order.
    private func change(_ queue: inout PlayerQueue, _ model: inout Model, _ random: inout SplitMix) throws {
        let count = model.ids.count
        let place = Int.random(in: 0...count, using: &random)
        let low = Int.random(in: 0...count, using: &random)
        let range = low..<Int.random(in: low...count, using: &random)
        switch Int.random(in: 0..<13, using: &random) {
        case 0...2:
            let new = try queue.insert(
                paths: (0..<Int.random(in: 1...5, using: &random)).map { "/\($0)" },
                at: Bool.random(using: &random) ? place : nil
            )
            model.ids.insert(contentsOf: new.map(\.id), at: new[0].position)
        case 3 where !range.isEmpty && range.count < 6:
            let gone = Set(model.ids[range])
            let followed = model.options.random && gone.contains(model.current ?? 0)
            try queue.remove(positions: range)
            model.remove(gone)
            if followed { model.current = queue.currentID }
        case 4 where count > 2:
            let gone = Set([model.ids[place % count], model.ids[low % count]])
            let followed = model.options.random && gone.contains(model.current ?? 0)
            try queue.remove(ids: Array(gone))
            model.remove(gone)
            if followed { model.current = queue.currentID }
        case 5:
            let target = Int.random(in: 0...(count - range.count), using: &random)
            try queue.move(range, to: target)
            let moved = Array(model.ids[range])
            model.ids.removeSubrange(range)
            model.ids.insert(contentsOf: moved, at: target)
        case 6 where count > 0:
            let (first, second) = (place % count, low % count)
            try queue.swap(id: model.ids[first], with: model.ids[second])
            model.ids.swapAt(first, second)
        case 7:
            try queue.shuffle(range)
            let mixed = queue.items.map(\.id)
            #expect(mixed[range].sorted() == model.ids[range].sorted())
            if let current = model.current, model.ids[range].contains(current), range.count > 1 {
                #expect(mixed[range.lowerBound] == current)
            }
            model.ids.replaceSubrange(range, with: mixed[range])
        case 8 where count > 0:
            let id = model.ids[place % count]
            queue.describe(id: id, with: Metadata(title: "\(random.next())"))
        case 9:
            model.options.repeat = Bool.random(using: &random)
            model.options.consume = Int.random(in: 0..<4, using: &random) == 0
            model.options.random = Int.random(in: 0..<4, using: &random) == 0
            queue.set(model.options)
        case 10 where count > 0:
            model.current = model.ids[place % count]
            try queue.select(id: model.ids[place % count])
        case 11 where !model.options.random:
            var ahead = queue
            let foretold = ahead.next()
            #expect(queue.next() == foretold)
            model.leave()
        case 12 where !model.options.random:
            _ = queue.previous()
            model.previous()
        default: break
        }
        if model.options.random { model.current = queue.currentID }
    }

    @Test(arguments: [false, true])
    func `a random round plays each item once, despite inserts, removals and shuffles`(consume: Bool) throws {
        var random = SplitMix(seed: 3)
        for _ in 0..<50 {
            var queue = PlayerQueue(
                state: PlayerState(options: PlayerOptions(consume: consume, random: true)),
                seed: random.next()
            )
            try queue.insert(paths: (0..<20).map { "/\($0)" })
            _ = queue.selectFirst()
            var heard = [try #require(queue.currentID)]
            var gone: Set<Int> = []
            for step in 0..<60 {
                let rest = Set(queue.items.map(\.id)).subtracting(heard)
                switch step % 5 {
                case 1 where step < 30: try queue.insert(paths: ["/a", "/b"], at: step % 2 == 0 ? nil : 0)
                case 2:
                    if let id = rest.min() {
                        try queue.remove(ids: [id])
                        gone.insert(id)
                    }
                case 3: try queue.shuffle()
                default: break
                }
                guard case .play(let id) = queue.finishCurrent() else { break }
                heard.append(id)
            }
            #expect(Set(heard).count == heard.count)
            #expect(Set(heard).union(gone) == Set(1..<queue.nextItemID))
        }
    }

    @Test func `removed items are forgotten, and the ids of the others stay the same`() throws {
        var queue = PlayerQueue(seed: 1)
        for _ in 0..<40 {
            let new = try queue.insert(paths: (0..<100).map { "/\($0)" })
            try queue.remove(ids: new.dropLast().map(\.id))
            _ = queue.takeChanges()
        }
        #expect(queue.contents.records.count < 1200)
        #expect(queue.items.map(\.id) == (1...40).map { $0 * 100 })
        #expect(try queue.move(id: 4000, to: 0).id == 4000)
        try queue.remove(ids: [100])
        #expect(queue.items.map(\.id) == [4000] + (2...39).map { $0 * 100 })
    }

    @Test func `an unknown version gets all items, and the current version gets none`() throws {
        var queue = PlayerQueue(seed: 1)
        try queue.insert(paths: ["/a", "/b", "/c"])
        #expect(queue.items(changedSince: queue.version).isEmpty)
        #expect(queue.items(changedSince: queue.version + 1) == queue.items)
        #expect(queue.items(changedSince: 0) == queue.items)
        let before = queue.version
        queue.describe(id: 2, with: Metadata(title: "B"))
        #expect(queue.items(changedSince: before).map(\.id) == [2])
        let described = queue.version
        queue.describe(id: 2, with: Metadata(title: "B"))
        #expect(queue.version == described)
        try queue.remove(positions: 1..<2)
        #expect(queue.items(changedSince: described).map(\.id) == [3])
    }

    @Test func `ranges and ids outside the queue are refused and change nothing`() throws {
        var queue = PlayerQueue(seed: 1)
        try queue.insert(paths: ["/a", "/b", "/c"])
        let before = queue.version
        #expect(throws: PlayerError.invalidPosition(4, count: 3)) { try queue.remove(positions: 2..<4) }
        #expect(throws: PlayerError.invalidPosition(-1, count: 3)) { try queue.shuffle(-1..<2) }
        #expect(throws: PlayerError.invalidPosition(2, count: 3)) { try queue.move(0..<2, to: 2) }
        #expect(throws: PlayerError.noSuchItem(id: 9)) { try queue.swap(id: 1, with: 9) }
        #expect(throws: PlayerError.noSuchItem(id: 9)) { try queue.remove(ids: [1, 9]) }
        #expect(queue.version == before)
        #expect(queue.items.map(\.id) == [1, 2, 3])
    }

    @Test func `100,000 items are predicted, moved and skipped quickly`() throws {
        var queue = PlayerQueue(state: PlayerState(options: PlayerOptions(random: true)), seed: 1)
        try queue.insert(paths: (0..<100_000).map { "/\($0)" })
        queue.set(PlayerOptions(consume: true))
        try queue.select(id: 50_000)
        let began = secondsComputed()
        for step in 0..<20 {
            var ahead = queue
            #expect(ahead.finishCurrent() == queue.next())
            try queue.move(id: 1 + step, to: 60_000)
            try queue.remove(ids: [90_000 + step])
        }
        // Without optimisation; a release build takes a hundredth of this.
        #expect(secondsComputed() - began < 20)
    }
}
