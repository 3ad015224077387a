package import BackgrounderAPI
import SystemSupport

/// Watching the time from a thread.
extension QueuePlayer {
    /// Calls `body` with the current item and the seconds heard, at each multiple of `interval` (at least 10 ms) while
    /// playing and once at every jump.
    ///
    /// `body` runs on the position thread, which may wait for the disk. A notification costs no extra wakeup when the
    /// position is stored at the same time. Ends with ``endWatch(_:)``.
    package nonisolated func watchTime(
        forInterval interval: Duration,
        _ body: @escaping @Sendable (PlayerItem, Double) -> Void
    ) -> Int {
        pipeline.addWatch(every: max(interval.seconds, 0.01), body)
    }

    /// Ends a watch. Its `body` may be called once more.
    package nonisolated func endWatch(_ id: Int) { pipeline.removeWatch(id) }

    /// Starts the position thread if it is not running. If the system has no thread, the next start of playing retries.
    func startPositionWriterIfNeeded() {
        pipeline.startPositionWriterIfNeeded(journal) { [weak self] in
            guard let self else { return }
            Task { await self.positionNotSaved() }
        }
    }

    /// Saves the whole state, which contains a position, so that the failure and the recovery are reported.
    private func positionNotSaved() async {
        guard !activity.isShutDown else { return }
        writes.changeState()
        await commit()
    }
}
