/// A file that plays now, over the music or instead of it.
struct Announcement: Hashable, Sendable {
    let token: Int
    let path: String
    /// What the music is multiplied with meanwhile; without it the music is held.
    let duck: Double?
    let priority: Int
    /// Seconds, once its content was looked at.
    var duration: Double?
    var hasBegun = false
}

/// Announcements in the order in which they play: the higher priority first, of equal ones the earlier.
///
/// One that plays is not cut off, whatever comes: half an announcement is worse than a late one, and whoever cannot wait
/// stops the player first. It is a value, and nothing of it is stored: an announcement is of the moment.
struct AnnouncementLine {
    /// judgement: more is a client that has lost its mind, or an hour of speech; refusing says so at once
    static let limit = 32

    private(set) var waiting: [Announcement] = []
    var current: Announcement?

    var isEmpty: Bool { current == nil && waiting.isEmpty }

    /// Throws ``PlayerError/tooManyAnnouncements(limit:)``. The one that plays does not count.
    mutating func add(_ new: Announcement) throws(PlayerError) {
        guard current == nil || waiting.count < Self.limit else { throw .tooManyAnnouncements(limit: Self.limit) }
        waiting.insert(new, at: waiting.firstIndex { $0.priority < new.priority } ?? waiting.count)
    }

    /// Makes the first that waits the current one, where there is none.
    mutating func advance() -> Announcement? {
        guard current == nil, !waiting.isEmpty else { return nil }
        current = waiting.removeFirst()
        return current
    }

    /// Forgets all of them; how many there were.
    mutating func clear() -> Int {
        let count = waiting.count + (current == nil ? 0 : 1)
        (current, waiting) = (nil, [])
        return count
    }
}
