/// An order of slots, with lookups in both directions: the slot at a place, and the place of a slot.
///
/// It takes four bytes an item and direction, so a change in the middle of 100,000 items copies for some tens of
/// microseconds.
struct QueueOrder: Sendable {
    private var slots: [Int32] = []
    /// The place by slot; -1 if the slot is not in the order.
    private var places: [Int32] = []

    init() {}

    init(_ slots: [Int32]) {
        insert(slots, at: 0)
    }

    var count: Int { slots.count }

    subscript(place: Int) -> Int { Int(slots[place]) }

    func place(of slot: Int) -> Int? {
        guard places.indices.contains(slot), places[slot] >= 0 else { return nil }
        return Int(places[slot])
    }

    /// Returns the order after the slots were renumbered; `new` has the new number of each old one.
    func mapped(by new: [Int32]) -> QueueOrder { QueueOrder(slots.map { new[Int($0)] }) }

    mutating func insert(_ new: some Collection<Int32>, at place: Int) {
        guard let highest = new.max() else { return }
        if places.count <= highest {
            places.append(contentsOf: repeatElement(-1, count: Int(highest) + 1 - places.count))
        }
        slots.insert(contentsOf: new, at: place)
        renumber(place..<slots.count)
    }

    mutating func remove(_ range: Range<Int>) {
        for place in range { places[Int(slots[place])] = -1 }
        slots.removeSubrange(range)
        renumber(range.lowerBound..<slots.count)
    }

    /// Removes those of `gone` that are in the order.
    mutating func remove(slots gone: some Sequence<Int>) {
        var lowest = slots.count
        let gone = Array(gone)
        if gone.count == 1, let place = place(of: gone[0]) { return remove(place..<place + 1) }
        for slot in gone {
            guard let place = place(of: slot) else { continue }
            lowest = min(lowest, place)
            places[slot] = -1
        }
        guard lowest < slots.count else { return }
        let rest = slots[lowest...].filter { places[Int($0)] >= 0 }
        slots.replaceSubrange(lowest..., with: rest)
        renumber(lowest..<slots.count)
    }

    /// Moves those of `range` to `place`, as counted without them. Returns the places whose slots changed.
    @discardableResult
    mutating func move(_ range: Range<Int>, to place: Int) -> Range<Int> {
        let moved = Array(slots[range])
        slots.removeSubrange(range)
        slots.insert(contentsOf: moved, at: place)
        let touched = min(range.lowerBound, place)..<max(range.upperBound, place + moved.count)
        renumber(touched)
        return touched
    }

    mutating func swapAt(_ first: Int, _ second: Int) {
        slots.swapAt(first, second)
        renumber(first..<first + 1)
        renumber(second..<second + 1)
    }

    mutating func shuffle(_ range: Range<Int>, using generator: inout some RandomNumberGenerator) {
        slots[range].shuffle(using: &generator)
        renumber(range)
    }

    /// Inserts `new` at random places from `start` on; the others keep their order.
    mutating func scatter(
        _ new: some Collection<Int32>,
        from start: Int,
        using generator: inout some RandomNumberGenerator
    ) {
        let mixed = new.shuffled(using: &generator)
        let rest = Array(slots[start...])
        var isNew = Array(repeating: false, count: rest.count) + Array(repeating: true, count: mixed.count)
        isNew.shuffle(using: &generator)
        var (nextNew, nextOld) = (mixed.makeIterator(), rest.makeIterator())
        let merged = isNew.compactMap { $0 ? nextNew.next() : nextOld.next() }
        slots.removeSubrange(start...)
        insert(merged, at: start)
    }

    private mutating func renumber(_ range: Range<Int>) {
        for place in range { places[Int(slots[place])] = Int32(truncatingIfNeeded: place) }
    }
}
