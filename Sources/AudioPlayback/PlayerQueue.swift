import BackgrounderAPI

/// The queue as a value: the items, the current one, and what comes before and after it, in MPD's terms.
///
/// It only decides, so a copy of it predicts what will be played; the generator of the random order is part of the value.
/// A copy is free, and advancing it copies at most the order (four bytes an item), never the items.
///
///     var ahead = queue
///     ahead.finishCurrent()   // what will happen at the end of the current item
struct PlayerQueue: Sendable {
    /// All items by slot, in the order of their ids. Removed items stay until ``sweep()``. Their positions are unused; they
    /// are computed when an item is read.
    var records: [PlayerItem]
    /// The slots in the order of the queue.
    var order: QueueOrder
    /// The slots in playing order while `random` is on, else empty.
    var round = QueueOrder()
    var currentID: Int?
    var nextItemID: Int
    var options: PlayerOptions
    var generator: SeededGenerator

    /// Grows with every change of the items, their order or their metadata; starts at 1.
    var version = 1
    /// By position: the version of the last change of the item there.
    var stamps: [UInt32]
    /// The changes since the last ``takeChanges()``.
    var changes: [QueueChange] = []

    /// The result of the end of an item, or of a skip.
    enum Outcome: Equatable {
        case play(Int)
        /// The item becomes current, paused at its start.
        case pause(Int)
        /// The item stays current, at its end.
        case stay(Int)
        case stop
    }

    /// Creates a queue of `items` in their order; their positions are recomputed.
    init(items: [PlayerItem] = [], state: PlayerState = PlayerState(), seed: UInt64 = .random(in: .min ... .max)) {
        let positions = items.indices.sorted { items[$0].id < items[$1].id }
        records = positions.map { items[$0] }
        var slots = [Int32](repeating: 0, count: items.count)
        for (slot, position) in positions.enumerated() { slots[position] = Int32(slot) }
        order = QueueOrder(slots)
        stamps = Array(repeating: 1, count: items.count)
        options = state.options
        nextItemID = max(state.nextItemID, (records.last?.id ?? 0) + 1)
        generator = SeededGenerator(state: seed)
        if let id = state.currentItemID, slot(of: id) != nil { currentID = id }
        if options.random { beginRound() }
    }

    // MARK: Reading

    var count: Int { order.count }
    var isEmpty: Bool { order.count == 0 }
    var current: PlayerItem? { currentID.flatMap(item) }
    /// All items. O(n): about 10 ms and 15 MB for 100,000.
    var items: [PlayerItem] { items(in: 0..<count) }

    func item(_ id: Int) -> PlayerItem? { position(of: id).map(item(at:)) }

    func position(of id: Int) -> Int? { slot(of: id).flatMap(order.place) }

    func item(at position: Int) -> PlayerItem {
        var item = records[order[position]]
        item.position = position
        return item
    }

    func id(at position: Int) -> Int { records[order[position]].id }

    /// The items at the positions of `range` that exist.
    func items(in range: Range<Int>) -> [PlayerItem] { range.clamped(to: 0..<count).map(item(at:)) }

    /// The items that changed or moved since `version`; all of them if that version is unknown.
    func items(changedSince version: Int) -> [PlayerItem] {
        guard version <= self.version else { return items }
        return stamps.indices.filter { stamps[$0] > version }.map(item(at:))
    }

    /// The ids of the current item and of those that would be played after it, at most `most`.
    func upcoming(_ most: Int) -> [Int] {
        let start = currentID.flatMap(slot).flatMap(playOrder.place) ?? 0
        return (start..<min(start + most, count)).map { records[playOrder[$0]].id }
    }

    /// The item with the lowest id that is `id` or more.
    func firstItem(from id: Int) -> PlayerItem? {
        var slot = firstSlot(from: id)
        while slot < records.count {
            if let position = order.place(of: slot) { return item(at: position) }
            slot += 1
        }
        return nil
    }

    /// The slot of an item that is in the queue.
    func slot(of id: Int) -> Int? {
        let slot = firstSlot(from: id)
        guard slot < records.count, records[slot].id == id, order.place(of: slot) != nil else { return nil }
        return slot
    }

    /// The first slot whose id is `id` or more.
    func firstSlot(from id: Int) -> Int {
        var (low, high) = (0, records.count)
        while low < high {
            let middle = (low + high) / 2
            if records[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Advancing

    mutating func select(id: Int) throws(PlayerError) {
        guard slot(of: id) != nil else { throw .noSuchItem(id: id) }
        currentID = id
    }

    mutating func deselect() { currentID = nil }

    /// Selects the first item to play, unless there is a current one.
    mutating func selectFirst() -> PlayerItem? {
        if currentID == nil, !isEmpty { currentID = records[playOrder[0]].id }
        return current
    }

    /// Advances past the end of the current item; applies `consume` and `oneshot`.
    mutating func finishCurrent() -> Outcome {
        guard let id = currentID else { return .stop }
        if options.single != .off, options.repeat, !options.consume, options.actionAtItemEnd == .advance {
            return .play(id)
        }
        let pauses = options.single != .off || options.actionAtItemEnd == .pause
        if options.actionAtItemEnd == .none { return .stay(id) }
        if options.single == .oneshot { options.single = .off }
        guard let following = leave(id) else { return .stop }
        return pauses ? .pause(following) : .play(following)
    }

    /// Skips to the next item. `single` does not apply; it is about the end of an item.
    mutating func next() -> Outcome {
        guard let id = currentID, let following = leave(id) else { return .stop }
        return .play(following)
    }

    /// Skips a current item that cannot be played. It stays in the queue, even with `consume`.
    mutating func skipUnplayable() -> Outcome {
        guard let id = currentID else { return .stop }
        currentID = idAfter(id, wrapping: options.repeat)
        return currentID.map(Outcome.play) ?? .stop
    }

    /// Goes back an item. From the first one it goes to the last with `repeat`, else to its own start.
    mutating func previous() -> Outcome {
        guard let id = currentID, let place = slot(of: id).flatMap(playOrder.place) else { return .stop }
        if place > 0 {
            currentID = records[playOrder[place - 1]].id
        } else if options.repeat {
            currentID = records[playOrder[count - 1]].id
        }
        return currentID.map(Outcome.play) ?? .stop
    }

    mutating func set(_ new: PlayerOptions) {
        let turnedRandom = new.random != options.random
        options = new
        if turnedRandom {
            round = QueueOrder()
            if new.random { beginRound() }
        }
    }

    // MARK: Order

    var playOrder: QueueOrder { options.random ? round : order }

    /// Returns the id after `id`. With `wrapping`, the first follows the last; a queue of one item follows itself.
    private func idAfter(_ id: Int, wrapping: Bool) -> Int? {
        let order = playOrder
        guard let place = slot(of: id).flatMap(order.place) else { return nil }
        if place + 1 < order.count { return records[order[place + 1]].id }
        return wrapping ? records[order[0]].id : nil
    }

    /// Advances from `id`, removes it with `consume`, and shuffles when a new random round begins.
    private mutating func leave(_ id: Int) -> Int? {
        guard let slot = slot(of: id), let place = playOrder.place(of: slot) else { return nil }
        let isLast = place == count - 1
        var following = idAfter(id, wrapping: options.repeat)
        if options.consume {
            if following == id { following = nil }
            takeOut([slot])
        }
        if isLast, options.random, options.repeat, round.count > 1 {
            round.shuffle(0..<round.count, using: &generator)
            // The item that just ended must not begin the new round.
            if round[0] == slot { round.swapAt(0, round.count - 1) }
            following = records[round[0]].id
        }
        currentID = following
        return following
    }

    /// Shuffles all items into a round, with the current item in front.
    private mutating func beginRound() {
        round = order
        round.shuffle(0..<round.count, using: &generator)
        if let place = currentID.flatMap(slot).flatMap(round.place) { round.swapAt(0, place) }
    }
}
