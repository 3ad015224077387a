/// Ids in the order in which they are due, as a binary heap.
struct DueQueue: Sendable {
    private var items: [(due: Double, id: Int64)] = []

    mutating func insert(_ id: Int64, due: Double) {
        items.append((due, id))
        var index = items.count - 1
        while index > 0, items[(index - 1) / 2].due > due {
            items.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Removes and returns the first id that is due up to `limit`.
    mutating func popFirst(upTo limit: Double) -> (due: Double, id: Int64)? {
        guard let first = items.first, first.due <= limit else { return nil }
        let last = items.removeLast()
        guard !items.isEmpty else { return first }
        items[0] = last
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < items.count && items[child].due < items[least].due
            {
                least = child
            }
            guard least != index else { return first }
            items.swapAt(index, least)
            index = least
        }
    }
}
