package import BackgrounderAPI

/// An observer of the time in the current item.
struct TimeObserver {
    let interval: Double
    let continuation: AsyncStream<PlayerTime>.Continuation
    /// The time in the item of the next notification.
    var due: Double
}

extension QueuePlayer {
    /// Returns a stream of the time in the current item: at each multiple of `interval` (at least 10 ms) while it plays,
    /// and at every jump (seek, pause, another item). It ends when its reader ends it, or with the player.
    ///
    /// A slow reader misses the oldest values.
    package func addPeriodicTimeObserver(forInterval interval: Duration) -> AsyncStream<PlayerTime> {
        nextObserver += 1
        let id = nextObserver
        let (stream, continuation) = AsyncStream.makeStream(of: PlayerTime.self, bufferingPolicy: .bufferingNewest(16))
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            Task { await self.removeObserver(id) }
        }
        if isShuttingDown {
            continuation.finish()
        } else {
            let seconds = max(interval.seconds, 0.01)
            let due = Self.next(after: elapsed ?? 0, every: seconds)
            observers[id] = TimeObserver(interval: seconds, continuation: continuation, due: due)
            restartTicker()
        }
        return stream
    }

    private func removeObserver(_ id: Int) { observers[id] = nil }

    /// Marks a jump: a position not reached by playing. Observers are notified after the events that belong to it.
    func jumped() { hasJumped = true }

    /// Notifies the observers of a marked jump.
    func tellJump() {
        guard hasJumped else { return }
        hasJumped = false
        guard let time = playerTime else { return }
        if let current = list.current { pipeline.tellJump(current, time.elapsed) }
        guard !observers.isEmpty else { return }
        for (id, observer) in observers {
            observer.continuation.yield(time)
            observers[id]?.due = Self.next(after: time.elapsed, every: observer.interval)
        }
        restartTicker()
    }

    /// Restarts the wait, because the next value may be due earlier.
    private func restartTicker() {
        observerTicker?.cancel()
        observerTicker = nil
        wakeObservers()
    }

    /// Starts the ticker while there are observers and the time runs.
    func wakeObservers() {
        guard observerTicker == nil, !observers.isEmpty else { return }
        guard isTimeRunning else { return pipeline.awaitProgress() }
        let clock = clock
        observerTicker = Task {
            while !Task.isCancelled, let pause = tellObservers() {
                guard (try? await clock.sleep(for: .seconds(pause))) != nil else { return }
            }
            if !Task.isCancelled { observerTicker = nil }
        }
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
        var soonest = Double.infinity
        for (id, observer) in observers {
            // One millisecond of tolerance: timers fire slightly early, and every interval is longer.
            if time.elapsed >= observer.due - 0.001 {
                observer.continuation.yield(time)
                observers[id]?.due = Self.next(after: time.elapsed, every: observer.interval)
            }
            soonest = min(soonest, observers[id]?.due ?? .infinity)
        }
        guard isTimeRunning, soonest.isFinite else {
            pipeline.awaitProgress()
            return nil
        }
        return max(0.002, soonest - time.elapsed)
    }

    private static func next(after elapsed: Double, every interval: Double) -> Double {
        (((elapsed + 0.001) / interval).rounded(.down) + 1) * interval
    }
}
