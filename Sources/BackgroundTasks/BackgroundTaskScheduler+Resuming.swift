import BackgrounderAPI
import ChildProcesses
import FoundationEssentials
import Glibc
import Logging
import SystemSupport

extension BackgroundTaskScheduler {
    /// Takes over the tasks that were running when the service died. Call it once, before anything else.
    ///
    /// A command continues under its keeper, and its budget kept counting. A command that ended meanwhile left its result. A task
    /// with neither is lost: its remaining processes are killed, and it never begins again by itself.
    package func resume() async {
        let found = records.values.filter { $0.task.state.isOpen }
        await withTaskGroup { group in
            for record in found {
                group.addTask { await self.resume(record) }
            }
        }
        arm()
    }

    private func resume(_ record: TaskRecord) async {
        let id = record.task.id
        let budget = TaskBudget(
            limit: record.times.budget,
            grace: record.times.grace,
            used: record.used,
            countingSince: record.countingSince
        )
        guard record.boot == places.boot, !record.task.command.isEmpty else {
            return await lose(id, record.boot == places.boot ? budget : TaskBudget(budget, countingSince: nil))
        }
        if let process = await KeptProcess.find(socket: places.socket(id), mark: places.markVariable(id)) {
            return await adopt(id, process, budget)
        }
        let path = places.result(id)
        if let data = try? Data(contentsOf: URL(filePath: path)),
            let end = try? JSONDecoder().decode(CommandEnd.self, from: data)
        {
            let state: BackgroundTaskState =
                switch (end.wasEnded, record.isEndRequested) {
                case (true, true): .ended
                case (true, false): .expired
                case (false, _): end.exitStatus == 0 ? .finished : .failed
                }
            open[id] = OpenTask(work: .beginning, budget: budget)
            return await finish(
                id,
                state,
                exitStatus: end.exitStatus,
                used: budget.used(at: .nanoseconds(end.time)),
                detail: "it ended while the service was not running"
            )
        }
        await KeptProcess.sweep(record.running, mark: places.markVariable(id))
        await lose(id, budget)
    }

    private func lose(_ id: Int, _ budget: TaskBudget) async {
        // Only the time that is certain: it is unknown when the task ended.
        open[id] = OpenTask(work: .beginning, budget: TaskBudget(budget, countingSince: nil))
        unlink(places.socket(id))
        await finish(id, .lost, detail: "it was running when the service died, and has disappeared")
    }

    private func adopt(_ id: Int, _ process: KeptProcess, _ budget: TaskBudget) async {
        var budget = budget
        // No client is attached while the service is not running.
        if let alone = process.running.aloneSince { budget.count(from: .nanoseconds(alone)) }
        var task = OpenTask(work: .command(process), budget: budget)
        let time = now()
        if process.running.wasAskedToEnd || records[id]?.task.state == .expiring {
            let isRequested = records[id]?.isEndRequested == true
            task.reason = isRequested ? .request : .budget
            task.phase = .expiring(kill: isRequested ? time + budget.grace : max(time, budget.end ?? time))
            records[id]?.task.state = .expiring
        }
        open[id] = task
        process.lease(task.lease)
        if task.reason != nil, !process.running.wasAskedToEnd { process.terminate() }
        records[id]?.running = process.running
        records[id]?.task.pid = process.running.pid
        follow(id, process)
        logger.info("Task \(id) (\(name(id))) is still running, pid \(process.running.pid)")
        await store([id])
        tell(id)
    }
}

extension TaskBudget {
    fileprivate init(_ other: TaskBudget, countingSince: Duration?) {
        self.init(limit: other.limit, grace: other.grace, used: other.usedBefore, countingSince: countingSince)
    }
}
