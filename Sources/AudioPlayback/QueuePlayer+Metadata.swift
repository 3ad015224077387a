import BackgrounderAPI

/// Reading the files' metadata in the background: first of the items about to play, then of the others in turn.
///
/// A file is read once, also across restarts. A file without metadata is read once more when its turn to play comes.
extension QueuePlayer {
    /// Tuned: the current item and those after it that are read first; as many as a client usually shows.
    private static var upcoming: Int { 8 }
    /// Tuned: metadata is written in batches. A kill may lose one, and a command may wait for the write of one, so they
    /// are small.
    private static var batchTime: Duration { .milliseconds(500) }
    private static var batchSize: Int { 400 }

    func describeNewItems() {
        guard metadataTask == nil, !isShuttingDown, let first = nextToDescribe() else { return }
        metadataTask = Task {
            var next = Optional(first)
            var began = ContinuousClock.now
            var looked = 0
            while let item = next {
                switch await metadataReader.read(item.path) {
                case .metadata(let metadata): list.describe(id: item.id, with: metadata)
                case .nothing:
                    lookedAt.insert(item.id)
                    list.noteUnreadable(id: item.id)
                case .closed: lookedAt.insert(item.id)
                }
                next = Task.isCancelled ? nil : nextToDescribe()
                looked += 1
                guard next == nil || looked == Self.batchSize || .now - began > Self.batchTime else { continue }
                queueChanged()
                await commit()
                (began, looked) = (.now, 0)
            }
            metadataTask = nil
            // Items may have been added while the last batch was stored.
            if !Task.isCancelled { describeNewItems() }
        }
    }

    private func nextToDescribe() -> PlayerItem? {
        for id in list.upcoming(Self.upcoming) where !lookedAt.contains(id) {
            if let item = list.item(id), item.sampleRate == nil { return item }
        }
        // New items have higher ids than all others, so one pass is enough.
        while let item = list.firstItem(from: nextDescribedID) {
            nextDescribedID = item.id + 1
            if item.sampleRate == nil, !unreadable.contains(item.id), !lookedAt.contains(item.id) { return item }
        }
        return nil
    }
}
