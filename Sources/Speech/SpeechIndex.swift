import SystemSupport

/// The files of the cache and the order of their use, in memory.
struct SpeechIndex {
    private struct Entry {
        var size: Int
        /// Greater for a later use.
        var use: Int
        /// Until when the file must stay.
        var isHeldUntil: MonotonicTime?
    }

    private var entries: [String: Entry] = [:]
    private var lastUse = 0
    /// The bytes of all files.
    private(set) var size = 0

    /// Marks the file `name` as the most recently used one, if it is known.
    mutating func use(_ name: String) {
        lastUse += 1
        entries[name]?.use = lastUse
    }

    /// Adds or updates the file `name` as the most recently used one.
    mutating func add(_ name: String, size: Int) {
        lastUse += 1
        let held = entries[name]?.isHeldUntil
        remove(name)
        entries[name] = Entry(size: size, use: lastUse, isHeldUntil: held)
        self.size += size
    }

    /// Removes the file `name`.
    mutating func remove(_ name: String) {
        if let entry = entries.removeValue(forKey: name) { size -= entry.size }
    }

    /// Keeps the file `name` until `time`.
    mutating func hold(_ name: String, until time: MonotonicTime) { entries[name]?.isHeldUntil = time }

    /// Returns the files to remove so that the others have at most `limit` bytes, and whether these are enough: the
    /// least recently used ones that are neither held nor `kept`.
    func excess(over limit: Int, keeping kept: Set<String> = []) -> (names: [String], isEnough: Bool) {
        guard size > limit else { return ([], true) }
        let now = MonotonicTime.now
        let free = entries.filter { name, entry in
            !kept.contains(name) && entry.isHeldUntil.map { $0 < now } ?? true
        }
        var (rest, names) = (size, [String]())
        for (name, entry) in free.sorted(by: { $0.value.use < $1.value.use }) where rest > limit {
            rest -= entry.size
            names.append(name)
        }
        return (names, rest <= limit)
    }
}
