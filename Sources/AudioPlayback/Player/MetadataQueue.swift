import BackgrounderAPI

/// The items whose metadata must be read: first those about to play, then the others in turn.
///
/// A file is read once, also across restarts. A file without metadata is read once more when its turn to play comes.
struct MetadataQueue {
    /// Tuned: the current item and those after it that are read first; as many as a client usually shows.
    private static let upcoming = 8

    /// Items whose files yielded no metadata before this start, and since.
    private let unreadable: Set<Int>
    private var lookedAt: Set<Int> = []
    /// Items with lower ids have been read.
    private var nextID = 0
    /// The task that reads.
    private var task: Task<Void, Never>?

    init(unreadable: Set<Int>) { self.unreadable = unreadable }

    /// Returns the next item of `list` to read.
    mutating func next(in list: PlayerQueue) -> PlayerItem? {
        for id in list.upcoming(Self.upcoming) where !lookedAt.contains(id) {
            if let item = list.item(id), item.sampleRate == nil { return item }
        }
        // New items have higher ids than all others, so one pass is enough.
        while let item = list.firstItem(from: nextID) {
            nextID = item.id + 1
            if item.sampleRate == nil, !unreadable.contains(item.id), !lookedAt.contains(item.id) { return item }
        }
        return nil
    }

    /// The item's file yielded no metadata.
    mutating func skip(_ id: Int) { lookedAt.insert(id) }

    // MARK: The task that reads

    var isReading: Bool { task != nil }

    mutating func begin(_ task: Task<Void, Never>) { self.task = task }

    /// The task has read all items.
    mutating func ended() { task = nil }

    mutating func cancel() { task?.cancel() }
}
