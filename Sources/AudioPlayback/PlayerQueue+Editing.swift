import BackgrounderAPI

/// Editing the queue. Each change is recorded for the version and for the journal.
extension PlayerQueue {
    /// Tuned: the most items in a queue; each costs memory, also in every listing made for a client.
    static let most = 300_000

    /// Inserts new items before `position`, or at the end. Each gets an id of its own.
    ///
    /// - Throws: ``PlayerError/queueFull(limit:)`` or ``PlayerError/invalidPosition(_:count:)``.
    @discardableResult
    mutating func insert(paths: [String], at position: Int? = nil) throws(PlayerError) -> [PlayerItem] {
        let position = position ?? count
        guard (0...count).contains(position) else { throw .invalidPosition(position, count: count) }
        guard !paths.isEmpty else { return [] }
        guard count + paths.count <= Self.most else { throw .queueFull(limit: Self.most) }
        let new = paths.enumerated().map { PlayerItem(id: nextItemID + $0, position: position + $0, path: $1) }
        let place = place(around: position..<position)
        let slots = Int32(records.count)..<Int32(records.count + new.count)
        nextItemID += new.count
        records.append(contentsOf: new)
        order.insert(slots, at: position)
        if options.random { placeInRound(slots, appended: position + new.count == count) }
        changed(position..<count, .inserted(new, place))
        return new
    }

    /// Removes items. If the current one is among them, the first remaining item after it becomes current.
    ///
    /// - Throws: ``PlayerError/noSuchItem(id:)``; nothing is removed then.
    mutating func remove(ids: [Int]) throws(PlayerError) {
        var slots: Set<Int> = []
        for id in ids {
            guard let slot = slot(of: id) else { throw .noSuchItem(id: id) }
            slots.insert(slot)
        }
        remove(slots)
    }

    mutating func remove(id: Int) throws(PlayerError) { try remove(ids: [id]) }

    mutating func remove(positions: Range<Int>) throws(PlayerError) {
        try check(positions)
        remove(Set(positions.map { order[$0] }))
    }

    private mutating func remove(_ slots: Set<Int>) {
        guard !slots.isEmpty else { return }
        if let slot = currentID.flatMap(slot), slots.contains(slot) { currentID = idThatFollows(slot, without: slots) }
        takeOut(slots)
    }

    /// Removes the items in these slots. The caller updates the current item.
    mutating func takeOut(_ slots: Set<Int>) {
        let ids = slots.map { records[$0].id }
        let first = slots.compactMap(order.place).min() ?? count
        order.remove(slots: slots)
        round.remove(slots: slots)
        changed(first..<count, .removed(ids))
    }

    private func idThatFollows(_ slot: Int, without gone: Set<Int>) -> Int? {
        let order = playOrder
        guard let place = order.place(of: slot) else { return nil }
        let behind = place + 1..<order.count
        let following =
            behind.first { !gone.contains(order[$0]) }
            ?? (options.repeat ? (0..<place).first { !gone.contains(order[$0]) } : nil)
        return following.map { records[order[$0]].id }
    }

    /// Moves an item to `position`, as counted without it.
    @discardableResult
    mutating func move(id: Int, to position: Int) throws(PlayerError) -> PlayerItem {
        guard let from = self.position(of: id) else { throw .noSuchItem(id: id) }
        try move(from..<from + 1, to: position)
        return item(at: position)
    }

    /// Moves consecutive items, the first of them to `position`, as counted without them.
    mutating func move(_ positions: Range<Int>, to position: Int) throws(PlayerError) {
        try check(positions)
        guard (0...count - positions.count).contains(position) else { throw .invalidPosition(position, count: count) }
        guard !positions.isEmpty, position != positions.lowerBound else { return }
        let touched = order.move(positions, to: position)
        noteMove(position..<position + positions.count, touched)
    }

    /// Swaps two items.
    mutating func swap(id: Int, with other: Int) throws(PlayerError) {
        guard let first = position(of: id) else { throw .noSuchItem(id: id) }
        guard let second = position(of: other) else { throw .noSuchItem(id: other) }
        guard first != second else { return }
        let (low, high) = (min(first, second), max(first, second))
        // In two steps, so that the items between keep their places.
        order.move(high..<high + 1, to: low)
        noteMove(low..<low + 1, low..<low + 1)
        guard high > low + 1 else { return stamp(high..<high + 1) }
        order.move(low + 1..<low + 2, to: high)
        noteMove(high..<high + 1, high..<high + 1)
    }

    /// Shuffles all items or a range of them. A current item among them comes first.
    mutating func shuffle(_ positions: Range<Int>? = nil) throws(PlayerError) {
        let positions = positions ?? 0..<count
        try check(positions)
        guard positions.count > 1 else { return }
        order.shuffle(positions, using: &generator)
        if let place = currentID.flatMap(position), positions.contains(place) {
            order.move(place..<place + 1, to: positions.lowerBound)
        }
        noteMove(positions, positions)
    }

    mutating func clear() {
        guard !isEmpty else { return }
        records = []
        order = QueueOrder()
        round = QueueOrder()
        currentID = nil
        changed(0..<0, .replaced([]))
    }

    /// Replaces the metadata of an item; its id, position and path stay.
    mutating func describe(id: Int, with metadata: Metadata) {
        guard let slot = slot(of: id), let position = order.place(of: slot) else { return }
        let before = records[slot]
        metadata.fill(&records[slot])
        if records[slot] != before { changed(position..<position + 1, .described(item(at: position))) }
    }

    /// Records that the content of an item yields no metadata.
    mutating func noteUnreadable(id: Int) {
        if slot(of: id) != nil { changes.append(.unreadable(id)) }
    }

    /// Returns the changes since the last call, for the journal.
    mutating func takeChanges() -> [QueueChange] {
        sweep()
        defer { changes = [] }
        return changes
    }

    // MARK: Recording changes

    private mutating func changed(_ positions: Range<Int>, _ change: QueueChange) {
        changes.append(change)
        stamp(positions)
    }

    private mutating func stamp(_ positions: Range<Int>) {
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

    private func check(_ positions: Range<Int>) throws(PlayerError) {
        guard positions.lowerBound >= 0 else { throw .invalidPosition(positions.lowerBound, count: count) }
        guard positions.upperBound <= count else { throw .invalidPosition(positions.upperBound, count: count) }
    }

    /// Places new items in the random round: appended ones anywhere in the rest of the round, inserted ones next.
    private mutating func placeInRound(_ slots: Range<Int32>, appended: Bool) {
        let start = currentID.flatMap(slot).flatMap(round.place).map { $0 + 1 } ?? 0
        if appended {
            round.scatter(slots, from: start, using: &generator)
        } else {
            round.insert(slots, at: start)
        }
    }

    /// Frees the records of removed items once they outnumber the rest.
    private mutating func sweep() {
        guard records.count > 2 * count + 1024 else { return }
        var slots = [Int32](repeating: -1, count: records.count)
        var kept: [PlayerItem] = []
        kept.reserveCapacity(count)
        for slot in records.indices where order.place(of: slot) != nil {
            slots[slot] = Int32(kept.count)
            kept.append(records[slot])
        }
        records = kept
        order = QueueOrder(order.slots.map { slots[Int($0)] })
        round = QueueOrder(round.slots.map { slots[Int($0)] })
    }
}
