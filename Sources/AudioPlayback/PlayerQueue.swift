import BackgrounderAPI

/// The queue as a value: items, which one is current, and what comes before and after it, in MPD's words.
///
/// It decides and does nothing else, so a copy of it foretells what will be played: the random order comes from a
/// generator that is part of the value.
///
///     var ahead = queue
///     ahead.finishCurrent()   // what will happen at the end of the current item
struct PlayerQueue: Sendable {
    private(set) var items: [PlayerItem]
    private(set) var currentID: Int?
    private(set) var nextItemID: Int
    private(set) var options: PlayerOptions
    /// Ids in the order of play while `random` is on, else empty.
    private var order: [Int] = []
    private var generator: SeededGenerator

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
        self.items = items
        options = state.options
        nextItemID = max(state.nextItemID, (items.map(\.id).max() ?? 0) + 1)
        generator = SeededGenerator(state: seed)
        currentID = items.contains { $0.id == state.currentItemID } ? state.currentItemID : nil
        renumber()
        if options.random { reshuffleOrder() }
    }

    var current: PlayerItem? { currentID.flatMap(item) }

    func item(_ id: Int) -> PlayerItem? { items.first { $0.id == id } }

    // MARK: Changing what is in it

    /// Puts new items before `position`, or at the end; each gets an id of its own.
    mutating func insert(paths: [String], at position: Int? = nil) throws(PlayerError) -> [PlayerItem] {
        let position = position ?? items.count
        guard (0...items.count).contains(position) else { throw .invalidPosition(position, count: items.count) }
        let new = paths.enumerated().map { PlayerItem(id: nextItemID + $0, position: position + $0, path: $1) }
        nextItemID += new.count
        items.insert(contentsOf: new, at: position)
        renumber()
        if options.random { placeInOrder(new.map(\.id), appended: position + new.count == items.count) }
        return new
    }

    /// Takes an item out. When it was the current one, the one that follows it becomes current, if any.
    mutating func remove(id: Int) throws(PlayerError) {
        guard let index = items.firstIndex(where: { $0.id == id }) else { throw .noSuchItem(id: id) }
        if currentID == id {
            let following = idAfter(id, wrapping: options.repeat)
            currentID = following == id ? nil : following
        }
        items.remove(at: index)
        order.removeAll { $0 == id }
        renumber()
    }

    /// Brings an item to `position`, counted after it was taken out.
    mutating func move(id: Int, to position: Int) throws(PlayerError) -> PlayerItem {
        guard let index = items.firstIndex(where: { $0.id == id }) else { throw .noSuchItem(id: id) }
        guard items.indices.contains(position) else { throw .invalidPosition(position, count: items.count) }
        items.insert(items.remove(at: index), at: position)
        renumber()
        return items[position]
    }

    mutating func clear() {
        items = []
        order = []
        currentID = nil
    }

    /// Mixes the items themselves; the current one goes to the front.
    mutating func shuffle() {
        items.shuffle(using: &generator)
        if let index = items.firstIndex(where: { $0.id == currentID }) { items.insert(items.remove(at: index), at: 0) }
        renumber()
    }

    /// Replaces what the content told about an item; ids, positions and paths stay.
    mutating func describe(id: Int, with metadata: Metadata) {
        guard let index = items.firstIndex(where: { $0.id == id }) else { return }
        metadata.fill(&items[index])
    }

    mutating func set(_ new: PlayerOptions) {
        let turnedRandom = new.random != options.random
        options = new
        if turnedRandom {
            order = []
            if new.random { reshuffleOrder() }
        }
    }

    // MARK: Moving through it

    mutating func select(id: Int) throws(PlayerError) {
        guard item(id) != nil else { throw .noSuchItem(id: id) }
        currentID = id
    }

    mutating func deselect() { currentID = nil }

    /// Makes the first item to play the current one, unless there is one already.
    mutating func selectFirst() -> PlayerItem? {
        if currentID == nil { currentID = options.random ? order.first : items.first?.id }
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
        guard let id = currentID else { return .stop }
        let ids = playOrder
        guard let index = ids.firstIndex(of: id) else { return .stop }
        if index > 0 {
            currentID = ids[index - 1]
        } else if options.repeat {
            currentID = ids.last
        }
        return currentID.map(Outcome.play) ?? .stop
    }

    // MARK: Order

    private var playOrder: [Int] { options.random ? order : items.map(\.id) }

    /// The id after `id`, going round when `wrapping`; round a queue of one is that one.
    private func idAfter(_ id: Int, wrapping: Bool) -> Int? {
        let ids = playOrder
        guard let index = ids.firstIndex(of: id) else { return nil }
        if index + 1 < ids.count { return ids[index + 1] }
        return wrapping ? ids.first : nil
    }

    /// Moves on from `id`, takes it out when `consume` says so, and mixes anew where a random round begins.
    private mutating func leave(_ id: Int) -> Int? {
        let isLast = playOrder.last == id
        var following = idAfter(id, wrapping: options.repeat)
        if options.consume {
            if following == id { following = nil }
            items.removeAll { $0.id == id }
            order.removeAll { $0 == id }
            renumber()
        }
        if isLast, options.random, options.repeat, order.count > 1 {
            order.shuffle(using: &generator)
            // The item that just ended does not begin the new round.
            if order.first == id { order.swapAt(0, order.count - 1) }
            following = order.first
        }
        currentID = following
        return following
    }

    private mutating func reshuffleOrder() {
        order = items.map(\.id).shuffled(using: &generator)
        if let currentID, let index = order.firstIndex(of: currentID) { order.swapAt(0, index) }
    }

    /// New items at the end of the queue come somewhere in what is left of the round; inserted ones come next.
    private mutating func placeInOrder(_ ids: [Int], appended: Bool) {
        let start = currentID.flatMap { order.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
        if appended {
            for id in ids { order.insert(id, at: Int.random(in: start...order.count, using: &generator)) }
        } else {
            order.insert(contentsOf: ids, at: start)
        }
    }

    private mutating func renumber() {
        for index in items.indices where items[index].position != index { items[index].position = index }
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014): small enough to be part of a value.
struct SeededGenerator: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
