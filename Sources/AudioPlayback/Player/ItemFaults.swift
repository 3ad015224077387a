/// The faults of queue items.
struct ItemFaults {
    /// Why items could not be opened, by id. They are skipped until the next play command.
    private(set) var unplayable: [Int: String] = [:]
    /// Items whose faults have been reported.
    private var reported: Set<Int> = []

    func isUnplayable(_ id: Int) -> Bool { unplayable[id] != nil }

    mutating func skip(_ id: Int, because reason: String) { unplayable[id] = reason }

    /// Notes that an item is being played nevertheless.
    mutating func retry(_ id: Int) { unplayable[id] = nil }

    /// Forgets which items could not be opened, because they may be readable by now. Returns false if there were none.
    mutating func retryAll() -> Bool {
        defer { unplayable = [:] }
        return !unplayable.isEmpty
    }

    /// Returns whether the fault of an item is its first one.
    mutating func report(_ id: Int) -> Bool { reported.insert(id).inserted }

    /// Forgets the items that are no longer in the queue.
    mutating func forget(where isGone: (Int) -> Bool) {
        unplayable = unplayable.filter { !isGone($0.key) }
        reported = reported.filter { !isGone($0) }
    }
}
