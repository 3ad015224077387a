import BackgrounderAPI
import MediaFiles

/// Reading the files' metadata in the background.
extension QueuePlayer {
    /// Tuned: metadata is written in batches. A kill may lose one, and a command may wait for the write of one, so they
    /// are small.
    private static var batchTime: Duration { .milliseconds(500) }
    private static var batchSize: Int { 400 }

    func describeNewItems() {
        guard !metadata.isReading, !activity.isShutDown, let first = metadata.next(in: list) else { return }
        let task = Task {
            var next = Optional(first)
            var began = ContinuousClock.now
            var looked = 0
            while let item = next {
                switch await metadataReader.read(item.path) {
                case .metadata(let found): list.describe(id: item.id, with: found)
                case .nothing:
                    metadata.skip(item.id)
                    list.noteUnreadable(id: item.id)
                case .closed: metadata.skip(item.id)
                }
                next = Task.isCancelled ? nil : metadata.next(in: list)
                looked += 1
                guard next == nil || looked == Self.batchSize || .now - began > Self.batchTime else { continue }
                queueChanged()
                await commit()
                (began, looked) = (.now, 0)
            }
            metadata.ended()
            // Items may have been added while the last batch was stored.
            if !Task.isCancelled { describeNewItems() }
        }
        metadata.begin(task)
    }
}
