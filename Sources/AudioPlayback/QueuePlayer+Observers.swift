package import BackgrounderAPI

/// Somebody who wants to know how far the current item has been heard.
struct TimeObserver {
    let interval: Double
    let continuation: AsyncStream<PlayerTime>.Continuation
    /// The time in the item at which it is told next.
    var due: Double
}

extension QueuePlayer {
    /// The time in the current item, at each multiple of `interval` (10 ms at least) while it plays, and once more at
    /// every jump: seek, pause, another item. It ends when its reader goes away, or with the player.
    ///
    /// A reader that does not keep up misses the oldest values.
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

    /// The player is where it did not get by playing: everybody is told, after the events that go with it.
    func jumped() { hasJumped = true }

    /// Tells of a jump, when there was one.
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

    /// The next value may be due earlier than the one that was waited for.
    private func restartTicker() {
        observerTicker?.cancel()
        observerTicker = nil
        wakeObservers()
    }

    /// Sees to it that somebody is told in time, while there is somebody and the time runs.
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

    /// Tells those whose time has come. Seconds until the next one, `nil` when the time stands still: then the output's
    /// next report starts it again.
    private func tellObservers() -> Double? {
        guard let time = playerTime, !observers.isEmpty else { return nil }
        var soonest = Double.infinity
        for (id, observer) in observers {
            // A millisecond is less than any interval, and more than timers are early by.
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
