import BackgrounderAPI

/// The queue as a value: items, which one is current, and what comes before and after it, in MPD's words.
///
/// It decides and does nothing else, so a copy of it foretells what will be played: the random order comes from a
/// generator that is part of the value. A copy costs nothing, and going on in it copies at most the order, which is four
/// bytes an item, never the items.
///
///     var ahead = queue
///     ahead.finishCurrent()   // what will happen at the end of the current item
struct PlayerQueue: Sendable {
    /// What came, by slot: in the order of the ids. Those that were taken out stay until ``sweep()``, and the positions in
    /// here mean nothing: they are counted when an item is asked for.
    var records: [PlayerItem]
    /// The slots in the order of the queue.
    var order: QueueOrder
    /// The slots in the order of play while `random` is on, else empty.
    var round = QueueOrder()
    var currentID: Int?
    var nextItemID: Int
    var options: PlayerOptions
    var generator: SeededGenerator

    /// Grows with every change of the items, their order or what is known of them; from 1.
    var version = 1
    /// By position: the version in which the item there was last another one.
    var stamps: [UInt32]
    /// What happened since ``takeChanges()`` was called last.
    var changes: [QueueChange] = []

    /// What the end of an item, or a skip, leads to.
    enum Outcome: Equatable {
        case play(Int)
        /// The item is current, and pauses at its start.
        case pause(Int)
        /// The item stays current, at its end.
        case stay(Int)
        case stop
    }

    /// `items` are taken in their order; their positions are counted anew.
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

    // MARK: Looking

    var count: Int { order.count }
    var isEmpty: Bool { order.count == 0 }
    var current: PlayerItem? { currentID.flatMap(item) }
    /// All of them: for 100,000 some 10 ms and 15 MB.
    var items: [PlayerItem] { items(in: 0..<count) }

    func item(_ id: Int) -> PlayerItem? { position(of: id).map(item(at:)) }

    func position(of id: Int) -> Int? { slot(of: id).flatMap(order.place) }

    func item(at position: Int) -> PlayerItem {
        var item = records[order[position]]
        item.position = position
        return item
    }

    func id(at position: Int) -> Int { records[order[position]].id }

    /// Those of `range` that there are.
    func items(in range: Range<Int>) -> [PlayerItem] { range.clamped(to: 0..<count).map(item(at:)) }

    /// Those that are not what they were at `version`, or not at the same position; all where nobody can know.
    func items(changedSince version: Int) -> [PlayerItem] {
        guard version <= self.version else { return items }
        return stamps.indices.filter { stamps[$0] > version }.map(item(at:))
    }

    /// Ids of the current item and of those that would be played after it, `most` at most.
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

    // MARK: Moving through it

    mutating func select(id: Int) throws(PlayerError) {
        guard slot(of: id) != nil else { throw .noSuchItem(id: id) }
        currentID = id
    }

    mutating func deselect() { currentID = nil }

    /// Makes the first item to play the current one, unless there is one already.
    mutating func selectFirst() -> PlayerItem? {
        if currentID == nil, !isEmpty { currentID = records[playOrder[0]].id }
        return current
    }

    /// What the end of the current item leads to; `consume` and `oneshot` do their work.
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

    /// Skips to the next item; `single` is about an item's end and not about this.
    mutating func next() -> Outcome {
        guard let id = currentID, let following = leave(id) else { return .stop }
        return .play(following)
    }

    /// Passes over a current item that cannot be played. It stays in the queue, whatever `consume` says.
    mutating func skipUnplayable() -> Outcome {
        guard let id = currentID else { return .stop }
        currentID = idAfter(id, wrapping: options.repeat)
        return currentID.map(Outcome.play) ?? .stop
    }

    /// Goes to the item before; from the first one to the last with `repeat`, else to its own start.
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

    /// The id after `id`, going round when `wrapping`; round a queue of one is that one.
    private func idAfter(_ id: Int, wrapping: Bool) -> Int? {
        let order = playOrder
        guard let place = slot(of: id).flatMap(order.place) else { return nil }
        if place + 1 < order.count { return records[order[place + 1]].id }
        return wrapping ? records[order[0]].id : nil
    }

    /// Moves on from `id`, takes it out when `consume` says so, and mixes anew where a random round begins.
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
            // The item that just ended does not begin the new round.
            if round[0] == slot { round.swapAt(0, round.count - 1) }
            following = records[round[0]].id
        }
        currentID = following
        return following
    }

    /// A random order of all, the current item in front.
    private mutating func beginRound() {
        round = order
        round.shuffle(0..<round.count, using: &generator)
        if let place = currentID.flatMap(slot).flatMap(round.place) { round.swapAt(0, place) }
    }
}
