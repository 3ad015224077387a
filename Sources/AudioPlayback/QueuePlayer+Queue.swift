package import BackgrounderAPI
import Logging

/// Changing the queue. What plays goes on; what was decoded ahead and is no longer next is decoded no more.
extension QueuePlayer {
    /// Adds files, and the media of folders in natural order, at the end. Nothing is added when one of them is missing.
    ///
    /// Throws ``PlayerError/noSuchPath(path:)``, ``PlayerError/notPlayableKind(path:kind:)`` and
    /// ``PlayerError/noMedia(folder:)``; what is in a file is looked at when its turn comes.
    package func append(_ paths: [String]) async throws -> [PlayerItem] {
        let files = try await mediaFolder.files(paths)
        return try await insert(files: files, at: nil)
    }

    /// The same, before `position`; without one behind the current item.
    package func insert(_ paths: [String], at position: Int? = nil) async throws -> [PlayerItem] {
        let files = try await mediaFolder.files(paths)
        settle()
        return try await insert(files: files, at: position ?? list.current.map { $0.position + 1 })
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
        guard !files.isEmpty, (try? list.insert(paths: files)) != nil else { return }
        queueChanged()
        if play, intent == .stopped, ending == nil, let first = list.selectFirst() {
            intent = .playing
            unplayable = []
            start(first, at: 0)
            currentChanged()
        }
        plan()
        await commit()
        describeNewItems()
    }

    private func insert(files: [String], at position: Int?) async throws -> [PlayerItem] {
        settle()
        let new = try list.insert(paths: files, at: position)
        await changed()
        describeNewItems()
        return new.compactMap { list.item($0.id) }
    }

    /// Takes an item out. Was it playing, the one that follows plays; was it paused, the player stops.
    package func remove(id: Int) async throws {
        settle()
        let wasCurrent = list.currentID == id
        try list.remove(id: id)
        unplayable.remove(id)
        reportedFaults.remove(id)
        if wasCurrent { currentRemoved() }
        await changed()
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
        settle()
        let item = try list.move(id: id, to: position)
        await changed()
        return item
    }

    /// Takes everything out, and stops.
    package func clear() async {
        settle()
        let hadCurrent = list.currentID != nil
        list.clear()
        unplayable = []
        reportedFaults = []
        if intent != .stopped { finish(.command) }
        if hadCurrent { currentChanged() }
        await changed()
    }

    /// Mixes the items; the current one comes first and plays on.
    package func shuffle() async -> [PlayerItem] {
        settle()
        list.shuffle()
        await changed()
        return list.items
    }

    private func changed() async {
        plan()
        queueChanged()
        await commit()
    }

    /// Reads tags and lengths of what is new, one file after the other, behind everything else.
    func describeNewItems() {
        guard metadataTask == nil, !isShuttingDown else { return }
        metadataTask = Task {
            var looked: Set<Int> = []
            var lastSave = monotonicNow()
            while !Task.isCancelled,
                let item = list.items.first(where: { $0.sampleRate == nil && !looked.contains($0.id) })
            {
                looked.insert(item.id)
                guard let metadata = await metadataReader.read(item.path) else { continue }
                list.describe(id: item.id, with: metadata)
                queueChanged()
                // judgement: a long queue is not written once an item
                if monotonicNow() - lastSave > 500_000_000 {
                    await commit()
                    lastSave = monotonicNow()
                }
            }
            metadataTask = nil
            await commit()
        }
    }
}
