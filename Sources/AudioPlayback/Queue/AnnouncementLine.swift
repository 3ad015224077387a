import SystemSupport

/// A file to play now, over the music or instead of it.
struct Announcement: Hashable, Sendable {
    let token: Int
    let path: String
    /// The music's level meanwhile, 0 to 1; nil holds the music.
    let duck: Double?
    let priority: Int
    /// When it is too late to begin; nil if never.
    let deadline: MonotonicTime?
    /// The length in seconds, once the file has been read.
    fileprivate(set) var duration: Double?
    fileprivate(set) var hasBegun = false

    func isLate(at now: MonotonicTime) -> Bool { deadline.map { $0 < now } ?? false }
}

/// How an announcement ended.
package enum AnnouncementEnd: Hashable, Sendable {
    case played
    /// The file cannot be played, or not to its end.
    case failed(reason: String)
    /// Others played before it for too long.
    case late
    case dropped(reason: String)
}

/// The announcements in playing order: higher priorities first, then earlier ones.
///
/// A playing announcement is never cut off by another: half an announcement is worse than a late one, and a client that
/// cannot wait can stop the player first. Announcements are never stored, because they are about the moment.
struct AnnouncementLine {
    /// Tuned: more waiting announcements mean a client in a loop, or an hour of speech; an error reports it early.
    static let limit = 32

    private(set) var waiting: [Announcement] = []
    private(set) var current: Announcement?

    var isEmpty: Bool { current == nil && waiting.isEmpty }

    /// Adds an announcement. The one that plays does not count towards the limit.
    ///
    /// - Throws: ``PlayerError/tooManyAnnouncements(limit:)``.
    mutating func add(_ new: Announcement) throws(PlayerError) {
        guard current == nil || waiting.count < Self.limit else { throw .tooManyAnnouncements(limit: Self.limit) }
        waiting.insert(new, at: waiting.firstIndex { $0.priority < new.priority } ?? waiting.count)
    }

    /// Removes the waiting announcements whose turn comes too late, unless one plays.
    mutating func removeLate(at now: MonotonicTime) -> [Announcement] {
        guard current == nil else { return [] }
        let late = waiting.filter { $0.isLate(at: now) }
        waiting.removeAll { $0.isLate(at: now) }
        return late
    }

    /// Makes the first waiting announcement current, unless there is a current one.
    mutating func advance() -> Announcement? {
        guard current == nil, !waiting.isEmpty else { return nil }
        current = waiting.removeFirst()
        return current
    }

    /// The current announcement is heard. Returns false if that was known.
    mutating func begin() -> Bool {
        guard let current, !current.hasBegun else { return false }
        self.current?.hasBegun = true
        return true
    }

    /// Sets the length of the current announcement, in seconds.
    mutating func describe(duration: Double) { current?.duration = duration }

    /// Removes the current announcement.
    mutating func endCurrent() { current = nil }

    /// Removes all announcements. Returns their number.
    mutating func clear() -> Int {
        let count = waiting.count + (current == nil ? 0 : 1)
        (current, waiting) = (nil, [])
        return count
    }
}
