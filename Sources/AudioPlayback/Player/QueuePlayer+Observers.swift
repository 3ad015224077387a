package import BackgrounderAPI
import SystemSupport

extension QueuePlayer {
    /// Returns a stream of the time in the current item: at each multiple of `interval` (at least 10 ms) while it plays,
    /// and at every jump (seek, pause, another item). It ends when its reader ends it, or with the player.
    ///
    /// A slow reader misses the oldest values.
    package func addPeriodicTimeObserver(forInterval interval: Duration) -> AsyncStream<PlayerTime> {
        if activity.isShutDown { return AsyncStream { $0.finish() } }
        let stream = observers.add(every: max(interval.seconds, 0.01), after: elapsed ?? 0) { [weak self] id in
            guard let self else { return }
            Task { await self.removeObserver(id) }
        }
        restartTicker()
        return stream
    }

    private func removeObserver(_ id: Int) { observers.remove(id) }

    /// Marks a jump: a position not reached by playing. Observers are notified after the events that belong to it.
    func jumped() { observers.markJump() }

    /// Notifies the observers of a marked jump.
    func tellJump() {
        guard observers.takeJump(), let time = playerTime else { return }
        if let current = list.current { pipeline.tellJump(in: current, to: time.elapsed) }
        guard !observers.isEmpty else { return }
        observers.tellAll(time)
        restartTicker()
    }

    /// Restarts the wait, because the next value may be due earlier.
    private func restartTicker() {
        observers.stopTicker()
        wakeObservers()
    }

    /// Starts the ticker while there are observers and the time runs.
    func wakeObservers() {
        guard observers.needTicker else { return }
        guard isTimeRunning else { return pipeline.awaitProgress() }
        let clock = clock
        let ticker = Task {
            while !Task.isCancelled, let pause = tellObservers() {
                guard (try? await clock.sleep(for: .seconds(pause))) != nil else { return }
            }
            if !Task.isCancelled { observers.tickerEnded() }
        }
        observers.setTicker(ticker)
    }

    private var isTimeRunning: Bool { timeControlStatus == .playing && pipeline.snapshot().isAdvancing }

    private var playerTime: PlayerTime? {
        guard let current = list.current, let elapsed else { return nil }
        return PlayerTime(itemID: current.id, elapsed: elapsed, duration: current.duration)
    }

    /// Notifies the observers that are due. Returns the seconds until the next one; nil when the time stands still, in which
    /// case the output's next report restarts the ticker.
    private func tellObservers() -> Double? {
        guard let time = playerTime, !observers.isEmpty else { return nil }
        let soonest = observers.tellDue(time)
        guard isTimeRunning, soonest.isFinite else {
            pipeline.awaitProgress()
            return nil
        }
        return max(0.002, soonest - time.elapsed)
    }
}
