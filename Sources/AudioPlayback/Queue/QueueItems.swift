import BackgrounderAPI
import MediaFiles

/// The items of a queue in their order, with a record of each change for the version and for the journal.
///
/// An item has a slot, which stays the same while the item moves. The current item and the playing order belong to
/// ``PlayerQueue``.
struct QueueItems: Sendable {
    /// All items by slot, in the order of their ids. Removed items stay until ``sweep()``. Their positions are unused; they
    /// are computed when an item is read.
    private(set) var records: [PlayerItem]
    /// The slots in the order of the queue.
    private(set) var order: QueueOrder
    private(set) var nextID: Int

    /// Grows with every change of the items, their order or their metadata; starts at 1.
    private(set) var version = 1
    /// By position: the version of the last change of the item there.
    private var stamps: [UInt32]
    /// The changes since the last ``takeChanges()``.
    private var changes: [QueueChange] = []

    /// Takes over `items` in their order; their positions are recomputed.
    init(_ items: [PlayerItem], nextID: Int) {
        let positions = items.indices.sorted { items[$0].id < items[$1].id }
        records = positions.map { items[$0] }
        var slots = [Int32](repeating: 0, count: items.count)
        for (slot, position) in positions.enumerated() { slots[position] = Int32(slot) }
        order = QueueOrder(slots)
        stamps = Array(repeating: 1, count: items.count)
        self.nextID = max(nextID, (records.last?.id ?? 0) + 1)
    }

    // MARK: Reading

    var count: Int { order.count }

    func position(of id: Int) -> Int? { slot(of: id).flatMap(order.place) }

    func item(at position: Int) -> PlayerItem {
        var item = records[order[position]]
        item.position = position
        return item
    }

    func id(at position: Int) -> Int { id(of: order[position]) }

    func id(of slot: Int) -> Int { records[slot].id }

    func priority(of slot: Int) -> Int { records[slot].priority ?? 0 }

    /// Whether an item has a priority. O(n).
    var hasPriorities: Bool { records.contains { $0.priority != nil } }

    /// The slot of an item that is in the queue.
    func slot(of id: Int) -> Int? {
        let slot = firstSlot(from: id)
        guard slot < records.count, records[slot].id == id, order.place(of: slot) != nil else { return nil }
        return slot
    }

    /// The items that changed or moved since `version`; all of them if that version is unknown.
    func items(changedSince version: Int) -> [PlayerItem] {
        let positions = version <= self.version ? stamps.indices.filter { stamps[$0] > version } : Array(0..<count)
        return positions.map(item(at:))
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

    /// The first slot whose id is `id` or more.
    private func firstSlot(from id: Int) -> Int {
        var (low, high) = (0, records.count)
        while low < high {
            let middle = (low + high) / 2
            if records[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Editing

    /// Inserts new items before `position`. Each gets an id of its own. Returns the items and their slots.
    mutating func insert(paths: [String], at position: Int) -> (items: [PlayerItem], slots: Range<Int32>) {
        let new = paths.enumerated().map { PlayerItem(id: nextID + $0, position: position + $0, path: $1) }
        let place = place(around: position..<position)
        let slots = Int32(records.count)..<Int32(records.count + new.count)
        nextID += new.count
        records.append(contentsOf: new)
        order.insert(slots, at: position)
        changed(position..<count, .inserted(new, place))
        return (new, slots)
    }

    mutating func remove(slots: Set<Int>) {
        let ids = slots.map { records[$0].id }
        let first = slots.compactMap(order.place).min() ?? count
        order.remove(slots: slots)
        changed(first..<count, .removed(ids))
    }

    /// Moves consecutive items, the first of them to `position`, as counted without them.
    mutating func move(_ positions: Range<Int>, to position: Int) {
        let touched = order.move(positions, to: position)
        noteMove(position..<position + positions.count, touched)
    }

    mutating func swapAt(_ first: Int, _ second: Int) {
        let (low, high) = (min(first, second), max(first, second))
        // In two steps, so that the items between keep their places.
        order.move(high..<high + 1, to: low)
        noteMove(low..<low + 1, low..<low + 1)
        guard high > low + 1 else { return stamp(high..<high + 1) }
        order.move(low + 1..<low + 2, to: high)
        noteMove(high..<high + 1, high..<high + 1)
    }

    /// Shuffles the items at `positions`. One with the id `first` among them comes first.
    mutating func shuffle(
        _ positions: Range<Int>,
        first: Int?,
        using generator: inout some RandomNumberGenerator
    ) {
        order.shuffle(positions, using: &generator)
        if let place = first.flatMap(position), positions.contains(place) {
            order.move(place..<place + 1, to: positions.lowerBound)
        }
        noteMove(positions, positions)
    }

    mutating func clear() {
        records = []
        order = QueueOrder()
        changed(0..<0, .replaced([]))
    }

    /// Replaces the metadata of an item; its id, position and path stay.
    mutating func describe(id: Int, with metadata: Metadata) {
        guard let slot = slot(of: id), let position = order.place(of: slot) else { return }
        let before = records[slot]
        metadata.fill(&records[slot])
        if records[slot] != before { changed(position..<position + 1, .described(item(at: position))) }
    }

    /// Sets the priority of the items in `slots`, 0 to 255. Returns those that had another.
    mutating func prioritise(_ slots: [Int], _ priority: Int) -> [Int] {
        let changing = slots.filter { (records[$0].priority ?? 0) != priority }
        guard !changing.isEmpty else { return [] }
        for slot in changing { records[slot].priority = priority == 0 ? nil : priority }
        changes.append(.prioritised(changing.map { records[$0].id }, priority))
        stamp(changing.compactMap(order.place))
        return changing
    }

    /// Records that an item looks different to clients, although nothing of it that is stored has changed.
    mutating func touch(id: Int) {
        if let position = position(of: id) { stamp(position..<position + 1) }
    }

    /// Records that the content of an item yields no metadata.
    mutating func noteUnreadable(id: Int) {
        if slot(of: id) != nil { changes.append(.unreadable(id)) }
    }

    // MARK: Recording changes

    /// Returns the changes since the last call, for the journal.
    mutating func takeChanges() -> [QueueChange] {
        defer { changes = [] }
        return changes
    }

    /// Frees the records of removed items once they outnumber the rest. Returns the new slots by the old ones, or nil if
    /// they are the same.
    mutating func sweep() -> [Int32]? {
        guard records.count > 2 * count + 1024 else { return nil }
        var slots = [Int32](repeating: -1, count: records.count)
        var kept: [PlayerItem] = []
        kept.reserveCapacity(count)
        for slot in records.indices where order.place(of: slot) != nil {
            slots[slot] = Int32(kept.count)
            kept.append(records[slot])
        }
        records = kept
        order = order.mapped(by: slots)
        return slots
    }

    private mutating func changed(_ positions: Range<Int>, _ change: QueueChange) {
        changes.append(change)
        stamp(positions)
    }

    private mutating func stamp(_ positions: some Sequence<Int>) {
        version += 1
        let stamp = UInt32(truncatingIfNeeded: version)
        if stamps.count > count { stamps.removeLast(stamps.count - count) }
        if stamps.count < count { stamps.append(contentsOf: repeatElement(stamp, count: count - stamps.count)) }
        for position in positions { stamps[position] = stamp }
    }

    /// Records that the items now at `positions` moved there, which changed all positions in `touched`.
    private mutating func noteMove(_ positions: Range<Int>, _ touched: Range<Int>) {
        changed(touched, .moved(positions.map(id(at:)), place(around: positions)))
    }

    private func place(around positions: Range<Int>) -> QueuePlace {
        QueuePlace(
            after: positions.lowerBound > 0 ? id(at: positions.lowerBound - 1) : nil,
            before: positions.upperBound < count ? id(at: positions.upperBound) : nil
        )
    }
}
