package import BackgrounderAPI
import Logging
package import MediaFiles

/// Editing the queue. The current item continues; samples decoded ahead that are no longer next are discarded.
///
/// Each command is a single step for readers, with one version, write and event. A command that throws changes nothing,
/// unless ``PlayerError/notStored(reason:isInEffect:)`` says otherwise.
extension QueuePlayer {
    /// Appends files, and the media in folders and playlists. Adds nothing if one of them is missing. Files are opened when
    /// their turn comes.
    ///
    /// - Throws: ``MediaError/outside(path:folder:)``, ``MediaError/noSuchPath(path:)``,
    ///   ``MediaError/notPlayableKind(path:kind:)`` or ``MediaError/noMedia(folder:)``.
    package func append(_ paths: [String], within scope: MediaScope = .everywhere) async throws -> [PlayerItem] {
        let files = try await mediaResolver.files(paths, within: scope)
        try await requireJournal()
        handleReports()
        return try await insert(files: files, at: nil)
    }

    /// Inserts like ``append(_:within:)``, before `position`. Without a position: after the current item, or at the front if
    /// there is none.
    package func insert(
        _ paths: [String],
        at position: Int? = nil,
        within scope: MediaScope = .everywhere
    ) async throws -> [PlayerItem] {
        let files = try await mediaResolver.files(paths, within: scope)
        try await requireJournal()
        handleReports()
        return try await insert(files: files, at: position ?? list.current.map { $0.position + 1 } ?? 0)
    }

    /// Appends the paths that can be added, logs the others, and with `play` plays from the first item on.
    ///
    /// Everything is one write: after a crash either the whole queue is there and plays, or none of it. If there is nothing
    /// to add, nothing is written.
    package func load(_ paths: [String], play: Bool) async {
        var files: [String] = []
        for path in paths {
            do {
                files += try await mediaResolver.files([path])
            } catch {
                logger.error("Not added to the queue: \(printable("\(error)"))")
            }
        }
        handleReports()
        if files.isEmpty { return }
        do {
            try list.insert(paths: files)
        } catch {
            return logger.error("Nothing was added to the queue: \(error)")
        }
        queueChanged()
        if play, activity.playback == .stopped, let first = list.selectFirst() {
            activity.playback = .playing
            _ = faults.retryAll()
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

    /// Removes items. If the current one was playing, the item after it plays; if it was paused, the player stops.
    ///
    /// - Throws: ``PlayerError/noSuchItem(id:)``.
    package func remove(ids: [Int]) async throws { try await remove { try $0.remove(ids: ids) } }

    /// Removes an item, like ``remove(ids:)``.
    package func remove(id: Int) async throws { try await remove(ids: [id]) }

    /// Removes the items at `positions`, like ``remove(ids:)``.
    ///
    /// - Throws: ``PlayerError/invalidPosition(_:count:)``.
    package func remove(positions: Range<Int>) async throws { try await remove { try $0.remove(positions: positions) } }

    private func remove(_ remove: (inout PlayerQueue) throws -> Void) async throws {
        try await requireJournal()
        handleReports()
        let before = list.currentID
        try remove(&list)
        faults.forget { !list.contains($0) }
        news.forget { !list.contains($0) }
        if list.currentID != before { currentRemoved() }
        try await changed()
    }

    private func currentRemoved() {
        if activity.playback == .playing, let item = list.current {
            start(item, at: 0)
        } else if activity.playback != .stopped {
            finish(.command)
        } else {
            position = 0
        }
        currentChanged()
        jumped()
    }

    /// Moves an item to `position`, as counted afterwards.
    ///
    /// - Throws: ``PlayerError/noSuchItem(id:)`` or ``PlayerError/invalidPosition(_:count:)``.
    package func move(id: Int, to position: Int) async throws -> PlayerItem {
        try await requireJournal()
        handleReports()
        let item = try list.move(id: id, to: position)
        try await changed()
        return marked(item)
    }

    /// Moves the items at `positions` so that the first of them has `position`.
    ///
    /// - Throws: ``PlayerError/invalidPosition(_:count:)``.
    package func move(_ positions: Range<Int>, to position: Int) async throws {
        try await requireJournal()
        handleReports()
        try list.move(positions, to: position)
        try await changed()
    }

    /// Swaps two items.
    ///
    /// - Throws: ``PlayerError/noSuchItem(id:)``.
    package func swap(id: Int, with other: Int) async throws {
        try await requireJournal()
        handleReports()
        try list.swap(id: id, with: other)
        try await changed()
    }

    /// Removes all items, and stops.
    ///
    /// - Throws: ``PlayerError/notStored(reason:isInEffect:)``.
    package func clear() async throws {
        try await requireJournal()
        handleReports()
        let hadCurrent = list.currentID != nil
        list.clear()
        faults = ItemFaults()
        news = StreamNews()
        if activity.playback != .stopped { finish(.command) }
        if hadCurrent { currentChanged() }
        try await changed()
    }

    /// Shuffles all items, or those at `positions`. A current item among them comes first and continues to play.
    ///
    /// - Throws: ``PlayerError/invalidPosition(_:count:)``.
    package func shuffle(_ positions: Range<Int>? = nil) async throws {
        try await requireJournal()
        handleReports()
        try list.shuffle(positions)
        try await changed()
    }

    /// Sets the priority of items, 0 to 255: while `random` is on, higher ones are played first.
    ///
    /// - Throws: ``PlayerError/noSuchItem(id:)``; nothing is changed then.
    package func prioritise(ids: [Int], _ priority: Int) async throws {
        try await requireJournal()
        handleReports()
        try list.prioritise(ids: ids, priority)
        try await changed()
    }

    private func changed() async throws {
        plan()
        skipLateStream()
        queueChanged()
        try await commitChange()
    }
}
