package import BackgrounderAPI
import Logging

/// Changing the queue. What plays goes on; what was decoded ahead and is no longer next is decoded no more.
///
/// Each command is one step for readers: its version, its write and its event. One that throws changes nothing, except where
/// ``PlayerError/notStored(reason:isInEffect:)`` says so.
extension QueuePlayer {
    /// Adds files, and the media of folders and playlists, at the end. Nothing is added when one of them is missing.
    ///
    /// Throws ``PlayerError/outside(path:folder:)``, ``PlayerError/noSuchPath(path:)``,
    /// ``PlayerError/notPlayableKind(path:kind:)`` and ``PlayerError/noMedia(folder:)``; what is in a file is looked at when its turn comes.
    package func append(_ paths: [String], within scope: MediaScope = .everywhere) async throws -> [PlayerItem] {
        let files = try await mediaFolder.files(paths, within: scope)
        try await requireJournal()
        settle()
        return try await insert(files: files, at: nil)
    }

    /// The same, before `position`; without one behind the current item, and in front where there is none.
    package func insert(
        _ paths: [String],
        at position: Int? = nil,
        within scope: MediaScope = .everywhere
    ) async throws -> [PlayerItem] {
        let files = try await mediaFolder.files(paths, within: scope)
        try await requireJournal()
        settle()
        return try await insert(files: files, at: position ?? list.current.map { $0.position + 1 } ?? 0)
    }

    /// Adds what can be added, each of the others being logged, and plays from the first item on when `play` says so.
    ///
    /// All of it is one write: after a crash there is the whole queue, playing, or nothing of it. Nothing is written when
    /// there is nothing to add.
    package func load(_ paths: [String], play: Bool) async {
        var files: [String] = []
        for path in paths {
            do {
                files += try await mediaFolder.files([path])
            } catch {
                logger.error("\(printable("\(error)")); left out of the queue")
            }
        }
        settle()
        if files.isEmpty { return }
        do {
            try list.insert(paths: files)
        } catch {
            return logger.error("\(error); nothing was added")
        }
        queueChanged()
        if play, intent == .stopped, ending == nil, let first = list.selectFirst() {
            intent = .playing
            unplayable = [:]
            start(first, at: 0)
            currentChanged()
        }
        plan()
        await commit()
        describeNewItems()
    }

    private func insert(files: [String], at position: Int?) async throws -> [PlayerItem] {
        let new = try list.insert(paths: files, at: position)
        try await changed()
        describeNewItems()
        return new
    }

    /// Takes items out. Was one of them playing, the one that follows plays; was it paused, the player stops.
    ///
    /// Throws ``PlayerError/noSuchItem(id:)``.
    package func remove(ids: [Int]) async throws { try await remove { try $0.remove(ids: ids) } }

    /// As ``remove(ids:)``.
    package func remove(id: Int) async throws { try await remove(ids: [id]) }

    /// As ``remove(ids:)``, for those at `positions`. Throws ``PlayerError/invalidPosition(_:count:)``.
    package func remove(positions: Range<Int>) async throws { try await remove { try $0.remove(positions: positions) } }

    private func remove(_ remove: (inout PlayerQueue) throws -> Void) async throws {
        try await requireJournal()
        settle()
        let before = list.currentID
        try remove(&list)
        unplayable = unplayable.filter { list.slot(of: $0.key) != nil }
        reportedFaults = reportedFaults.filter { list.slot(of: $0) != nil }
        if list.currentID != before { currentRemoved() }
        try await changed()
    }

    private func currentRemoved() {
        if intent == .playing, ending == nil, let item = list.current {
            start(item, at: 0)
        } else if intent != .stopped {
            finish(.command)
        } else {
            position = 0
        }
        currentChanged()
        jumped()
    }

    /// Brings an item to `position`, as it is counted afterwards.
    package func move(id: Int, to position: Int) async throws -> PlayerItem {
        try await requireJournal()
        settle()
        let item = try list.move(id: id, to: position)
        try await changed()
        return marked(item)
    }

    /// Brings those at `positions` to where the first of them has `position`. Throws ``PlayerError/invalidPosition(_:count:)``.
    package func move(_ positions: Range<Int>, to position: Int) async throws {
        try await requireJournal()
        settle()
        try list.move(positions, to: position)
        try await changed()
    }

    /// Each of the two items comes to where the other was. Throws ``PlayerError/noSuchItem(id:)``.
    package func swap(id: Int, with other: Int) async throws {
        try await requireJournal()
        settle()
        try list.swap(id: id, with: other)
        try await changed()
    }

    /// Takes everything out, and stops.
    ///
    /// Throws ``PlayerError/notStored(reason:isInEffect:)``.
    package func clear() async throws {
        try await requireJournal()
        settle()
        let hadCurrent = list.currentID != nil
        list.clear()
        unplayable = [:]
        reportedFaults = []
        if intent != .stopped { finish(.command) }
        if hadCurrent { currentChanged() }
        try await changed()
    }

    /// Mixes the items, all or those at `positions`; a current one among them comes first and plays on.
    ///
    /// Throws ``PlayerError/invalidPosition(_:count:)``.
    package func shuffle(_ positions: Range<Int>? = nil) async throws {
        try await requireJournal()
        settle()
        try list.shuffle(positions)
        try await changed()
    }

    private func changed() async throws {
        plan()
        queueChanged()
        try await commitChange()
    }
}
