package import BackgrounderAPI
import Logging
import SystemSupport

extension BackgroundTaskScheduler {
    /// Begins the built-in sample: Fibonacci numbers, two a second, from the first.
    ///
    /// - Parameters:
    ///   - budget: seconds.
    ///   - grace: seconds.
    /// - Throws: ``TaskError``, or the error of the journal.
    package func beginSample(budget: Double? = nil, grace: Double? = nil) async throws -> BackgroundTask {
        try await beginSample(times(budget: budget, grace: grace), name: "sample", from: Fibonacci())
    }

    /// - Parameter old: the task that the new one repeats.
    func beginSample(
        _ times: TaskTimes,
        name: String,
        from numbers: Fibonacci,
        repeating old: Int? = nil
    ) async throws -> BackgroundTask {
        let id = try await add(
            name: name,
            command: [],
            times: times,
            repeat: old == nil,
            position: numbers.position,
            work: .sample(numbers, ticker: nil)
        )
        records[id]?.task.detail = numbers.description
        let ticker = Task { [clock, now] in
            var next = now() + TaskLimits.sampleInterval
            while (try? await clock.sleep(for: max(.zero, next - now()))) != nil, self.tick(id) {
                // Not several in a row after the machine slept.
                next = max(next + TaskLimits.sampleInterval, now())
            }
        }
        open[id]?.work = .sample(numbers, ticker: ticker)
        arm()
        logger.info("Task \(id) (\(name)) began at \(numbers)")
        if let old { await passRepetition(of: old, to: id) }
        tell(id)
        guard let task = value(id) else { throw TaskError.noSuchTask(id: id) }
        return task
    }

    /// Publishes the next number, or logs it while no client is attached.
    ///
    /// - Returns: whether another one follows.
    private func tick(_ id: Int) -> Bool {
        guard case .sample(var numbers, let ticker)? = open[id]?.work else { return false }
        numbers.advance()
        open[id]?.work = .sample(numbers, ticker: ticker)
        records[id]?.task.detail = numbers.description
        if isAttached {
            tell(id)
        } else {
            logger.info("App is backgrounded. Next number = \(numbers)")
            if let left = open[id]?.remaining(at: now()) {
                logger.info("Background time remaining = \(left.seconds.decimals(1)) seconds")
            }
        }
        return true
    }
}
