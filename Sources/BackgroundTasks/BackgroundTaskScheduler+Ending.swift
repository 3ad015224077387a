package import BackgrounderAPI
import ChildProcesses
import Glibc
import Logging
import SystemSupport

extension BackgroundTaskScheduler {
    /// Ends a task with SIGTERM, and SIGKILL after its grace; returns when it is over.
    ///
    /// - Throws: ``TaskError``, also if the task was ended before.
    package func end(_ id: Int) async throws(TaskError) -> BackgroundTask {
        guard let record = records[id] else { throw .noSuchTask(id: id) }
        guard let task = open[id] else { throw .over(id: id, state: record.task.state) }
        guard task.reason != .request else { throw .endsAlready(id: id) }
        await requestEnd(id, within: task.budget.grace, at: now())
        await withCheckedContinuation { continuation in
            if open[id] != nil {
                open[id]?.waiting.append(continuation)
            } else if ending[id] != nil {
                ending[id]?.append(continuation)
            } else {
                continuation.resume()
            }
        }
        return try self.task(id)
    }

    /// Asks a task to end, and kills it after `grace`.
    func requestEnd(_ id: Int, within grace: Duration, at time: Duration) async {
        guard var task = open[id] else { return }
        let isExpired = task.reason == .budget
        task.reason = .request
        if case .sample = task.work {
            open[id] = task
            return await finish(id, .ended)
        }
        if case .killing = task.phase {
        } else {
            let kill = if case .expiring(let kill) = task.phase { min(kill, time + grace) } else { time + grace }
            task.phase = .expiring(kill: kill)
        }
        open[id] = task
        if !isExpired { task.process?.terminate() }
        task.process?.lease(task.lease)
        records[id]?.isEndRequested = true
        records[id]?.task.state = .expiring
        arm()
        await store([id])
        tell(id)
    }

    /// Expires a task: only the grace is left of its budget.
    func expire(_ id: Int, at time: Duration) {
        guard var task = open[id] else { return }
        let end = max(time, task.budget.end ?? time)
        task.phase = .expiring(kill: end)
        task.reason = .budget
        open[id] = task
        records[id]?.task.state = .expiring
        task.process?.terminate()
        task.process?.lease(task.lease)
        tell(id)
        if !isAttached { logger.info("Background time remaining = \((end - time).seconds.decimals(1)) seconds") }
    }

    /// Kills a task. Call `wakeKeeper()` afterwards: the keeper may be stopped.
    func kill(_ id: Int, at time: Duration) {
        guard var task = open[id] else { return }
        task.phase = .killing(giveUp: time + TaskLimits.keeperPatience)
        open[id] = task
        task.process?.killFirst()
    }

    /// Records the end of a command and of everything that it started.
    func ended(_ id: Int, _ end: CommandEnd?) async {
        guard let task = open[id] else { return }
        let state: BackgroundTaskState =
            switch task.reason {
            case .budget: .expired
            case .request: .ended
            case nil: end?.exitStatus == 0 ? .finished : .failed
            }
        let detail: String? =
            switch end {
            case nil: "its keeper process was killed, so its processes were killed"
            case let end? where !end.isComplete: "some of its processes could not be killed"
            default: nil
            }
        if let detail { logger.error("Task \(id) (\(name(id))): \(detail)") }
        let used = end.map { task.budget.used(at: .nanoseconds($0.time)) }
        await finish(id, state, exitStatus: end?.exitStatus, used: used, detail: detail)
    }

    /// Ends a task: stores its state, then publishes it.
    func finish(
        _ id: Int,
        _ state: BackgroundTaskState,
        exitStatus: Int32? = nil,
        used: Duration? = nil,
        detail: String? = nil
    ) async {
        guard let task = open.removeValue(forKey: id), var record = records[id] else { return }
        if case .sample(let numbers, let ticker) = task.work {
            ticker?.cancel()
            record.position = numbers.position
        }
        record.used = used ?? task.budget.used(at: now())
        record.countingSince = nil
        record.task.used = record.used.roundedSeconds
        record.task.state = state
        record.task.exitStatus = exitStatus
        if let detail { record.task.detail = detail }
        records[id] = record
        over.append(id)
        ending[id] = task.waiting
        arm()
        await storeEnd(id)
        // A killed keeper leaves its socket behind.
        unlink(places.socket(id))
        logEnd(record.task)
        tell(id)
        for continuation in ending.removeValue(forKey: id) ?? [] { continuation.resume() }
        if isStopping, open.isEmpty { finishStop() }
        await prune()
    }

    /// Removes the ended tasks from the list, with their output. A task that begins again at the next attach stays.
    ///
    /// - Returns: the number of removed tasks.
    /// - Throws: the error of the journal; nothing is removed then.
    package func clear() async throws -> Int {
        let old = over.filter { id in
            guard let task = records[id]?.task else { return false }
            return isEndStored(id) && !(task.state == .expired && task.repeat)
        }
        guard !old.isEmpty else { return 0 }
        try await journal.remove(old)
        over.removeAll(where: Set(old).contains)
        for id in old {
            records[id] = nil
            unlink(places.output(id))
        }
        return old.count
    }

    private func logEnd(_ task: BackgroundTask) {
        if !isAttached { logger.info("Background task ended.") }
        let status = task.exitStatus.map { ", exit status \($0)" } ?? ""
        let detail = task.command.isEmpty ? "" : task.detail.map { ": \($0)" } ?? ""
        logger.info(
            "Task \(task.id) (\(task.name)) \(task.state.rawValue) after \(task.used.decimals(3)) s of \(task.budget.decimals(3)) s\(status)\(detail)"
        )
    }

    /// Removes the tasks that ended first. The order of their ends counts, because a long task may still be asked for.
    private func prune() async {
        let old = Array(over.dropLast(TaskLimits.keptTasks))
        guard !old.isEmpty else { return }
        over.removeFirst(old.count)
        for id in old { records[id] = nil }
        do {
            try await journal.remove(old)
        } catch {
            logger.error("Cannot remove old tasks: \(error)")
        }
        for id in old { unlink(places.output(id)) }
    }
}
