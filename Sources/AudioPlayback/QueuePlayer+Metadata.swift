import BackgrounderAPI

/// Looking into the files behind everything else: what is about to play first, the others one after the other.
///
/// A file is looked at once, also across restarts, and once more where its turn to be played comes: what told nothing may
/// tell something by then.
extension QueuePlayer {
    /// judgement: the current item and what follows it
    private static var upcoming: Int { 8 }
    // judgement: what is found is written in batches, each of which a kill may cost; small ones, since a command may wait
    // for the end of such a write
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
            // What came while the last ones were stored.
            if !Task.isCancelled { describeNewItems() }
        }
    }

    private func nextToDescribe() -> PlayerItem? {
        for id in list.upcoming(Self.upcoming) where !lookedAt.contains(id) {
            if let item = list.item(id), item.sampleRate == nil { return item }
        }
        // New items have higher ids than all before them, so that one way through is enough.
        while let item = list.firstItem(from: nextDescribedID) {
            nextDescribedID = item.id + 1
            if item.sampleRate == nil, !unreadable.contains(item.id), !lookedAt.contains(item.id) { return item }
        }
        return nil
    }
}
