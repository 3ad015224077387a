import BackgrounderAPI

/// The observers of the time in the current item, and the task that notifies them while it runs.
struct TimeObservers {
    private struct Observer {
        let interval: Double
        let continuation: AsyncStream<PlayerTime>.Continuation
        /// The time in the item of the next notification.
        var due: Double
    }

    private var observers: [Int: Observer] = [:]
    private var lastID = 0
    private var hasJumped = false
    private var ticker: Task<Void, Never>?

    var isEmpty: Bool { observers.isEmpty }
    /// Whether there are observers, but no task that notifies them.
    var needTicker: Bool { ticker == nil && !observers.isEmpty }

    /// Adds an observer. `onEnd` gets its id when the reader ends the stream.
    mutating func add(
        every interval: Double,
        after elapsed: Double,
        onEnd: @escaping @Sendable (Int) -> Void
    ) -> AsyncStream<PlayerTime> {
        lastID += 1
        let id = lastID
        let (stream, continuation) = AsyncStream.makeStream(of: PlayerTime.self, bufferingPolicy: .bufferingNewest(16))
        continuation.onTermination = { _ in onEnd(id) }
        let due = PositionSchedule.next(after: elapsed, every: interval)
        observers[id] = Observer(interval: interval, continuation: continuation, due: due)
        return stream
    }

    mutating func remove(_ id: Int) { observers[id] = nil }

    /// Ends all streams.
    mutating func finish() {
        stopTicker()
        for observer in observers.values { observer.continuation.finish() }
        observers = [:]
    }

    /// Marks a jump: a position not reached by playing.
    mutating func markJump() { hasJumped = true }

    /// Returns whether a jump was marked since the last call.
    mutating func takeJump() -> Bool {
        defer { hasJumped = false }
        return hasJumped
    }

    /// Notifies all observers.
    mutating func tellAll(_ time: PlayerTime) { for id in observers.keys { tell(id, time) } }

    /// Notifies the observers that are due. Returns the time of the next notification.
    mutating func tellDue(_ time: PlayerTime) -> Double {
        // One millisecond of tolerance: timers fire slightly early, and every interval is longer.
        for (id, observer) in observers where time.elapsed >= observer.due - 0.001 { tell(id, time) }
        return observers.values.map(\.due).min() ?? .infinity
    }

    private mutating func tell(_ id: Int, _ time: PlayerTime) {
        guard let observer = observers[id] else { return }
        observer.continuation.yield(time)
        observers[id]?.due = PositionSchedule.next(after: time.elapsed, every: observer.interval)
    }

    mutating func setTicker(_ task: Task<Void, Never>) { ticker = task }

    /// The ticker has ended by itself.
    mutating func tickerEnded() { ticker = nil }

    mutating func stopTicker() {
        ticker?.cancel()
        ticker = nil
    }
}
