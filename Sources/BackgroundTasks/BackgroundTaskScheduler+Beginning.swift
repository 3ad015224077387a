package import BackgrounderAPI
import ChildProcesses
import Logging
import SystemSupport

extension BackgroundTaskScheduler {
    /// Begins a task and returns when its command runs.
    ///
    /// - Throws: ``TaskError``, or the error of the journal.
    package func begin(_ request: TaskRequest) async throws -> BackgroundTask {
        let times = try check(request)
        guard request.on == nil else { throw TaskError.invalid("a task that begins now has no `on`; leave it out") }
        return try await begin(request, times)
    }

    /// Checks `request` and returns its times.
    ///
    /// - Throws: ``TaskError``.
    func check(_ request: TaskRequest) throws(TaskError) -> TaskTimes {
        if let problem = request.nameProblem { throw .invalid(problem) }
        guard let program = request.command.first, !program.isEmpty else { throw .invalid("the command is empty") }
        guard request.command.reduce(0, { $0 + $1.utf8.count + 1 }) <= TaskLimits.commandLimit else {
            throw .invalid("the command is longer than \(TaskLimits.commandLimit) bytes")
        }
        if let directory = request.directory, !directory.hasPrefix("/") {
            throw .invalid("the directory \(directory.debugDescription) is not an absolute path")
        }
        guard (request.directory?.utf8.count ?? 0) < TaskLimits.pathLimit else {
            throw .invalid("the directory's path is longer than \(TaskLimits.pathLimit - 1) bytes")
        }
        guard !(request.command + [request.directory ?? ""]).contains(where: { $0.utf8.contains(0) }) else {
            throw .invalid("the command contains a NUL")
        }
        if let problem = request.environmentProblem { throw .invalid(problem) }
        let environment = request.environment ?? [:]
        guard environment.reduce(0, { $0 + $1.key.utf8.count + $1.value.utf8.count + 2 }) <= TaskLimits.commandLimit
        else { throw .invalid("the environment is longer than \(TaskLimits.commandLimit) bytes") }
        return try times(budget: request.budget, grace: request.grace)
    }

    func times(budget: Double?, grace: Double?) throws(TaskError) -> TaskTimes {
        for value in [budget, grace].compactMap(\.self) where !(abs(value) < 1e9) {
            throw .invalid("\(value) seconds is not a valid time for a task")
        }
        do throws(TaskTimesError) {
            return try TaskTimes(budget: budget.map { .seconds($0) }, grace: grace.map { .seconds($0) })
        } catch {
            throw .invalidTimes(error)
        }
    }

    /// - Parameter old: the task that the new one repeats.
    func begin(_ request: TaskRequest, _ times: TaskTimes, repeating old: Int? = nil) async throws -> BackgroundTask {
        let id = try await add(
            name: request.name,
            command: request.command,
            directory: request.directory,
            environment: request.environment ?? [:],
            times: times,
            strict: request.strict ?? false,
            repeat: request.repeat ?? false && old == nil,
            work: .beginning
        )
        let process: KeptProcess
        do throws(SpawnFailure) {
            process = try await KeptProcess.begin(order(id, request, lease: open[id]?.lease), keeper: places.keeper)
        } catch {
            await finish(id, .failed, detail: error.description)
            throw TaskError.cannotStart(id: id, error)
        }
        await began(id, process, repeating: old)
        guard let task = value(id) else { throw TaskError.noSuchTask(id: id) }
        return task
    }

    private func order(_ id: Int, _ request: TaskRequest, lease: Lease?) -> CommandOrder {
        let mark = places.mark(id)
        return CommandOrder(
            request.command,
            directory: request.directory,
            environment: places.environment
                .merging(request.environment ?? [:]) { $1 }
                .merging([mark.name: mark.value]) { $1 },
            mark: places.markVariable(id),
            lease: lease ?? .none,
            output: CommandOrder.OutputFile(path: places.output(id), limit: TaskLimits.outputLimit),
            socket: places.socket(id),
            result: places.result(id)
        )
    }

    /// Records that the command of task `id` runs.
    private func began(_ id: Int, _ process: KeptProcess, repeating old: Int?) async {
        guard var task = open[id] else {
            process.kill()
            return
        }
        task.work = .command(process)
        // The budget counts from now: starting the command does not count.
        let time = now()
        if case .running = task.phase, task.budget.countingSince != nil {
            task.budget = TaskBudget(limit: task.budget.limit, grace: task.budget.grace, countingSince: time)
        }
        open[id] = task
        process.lease(task.lease)
        // The task may have been ended meanwhile, by a command or with the service.
        switch task.phase {
        case .running: break
        case .expiring: process.terminate()
        case .killing: process.kill()
        }
        follow(id, process)
        records[id]?.running = process.running
        records[id]?.task.pid = process.running.pid
        arm()
        logger.info("Task \(id) (\(name(id))) began, pid \(process.running.pid)")
        if let old { await passRepetition(of: old, to: id) } else { await store([id]) }
        tell(id)
        logRemaining(id)
    }

    /// Waits for the end of a command and records it.
    func follow(_ id: Int, _ process: KeptProcess) {
        Task { await self.ended(id, await process.end()) }
    }

    /// Stores a new task, which is open from then on, and returns its id.
    func add(
        name: String,
        command: [String],
        directory: String? = nil,
        environment: [String: String] = [:],
        times: TaskTimes,
        strict: Bool = false,
        repeat isRepeated: Bool = false,
        position: Int? = nil,
        work: OpenTask.Work
    ) async throws -> Int {
        guard !isStopping else { throw TaskError.stopping }
        guard open.count + arriving < TaskLimits.openTasks else {
            throw TaskError.tooMany(limit: TaskLimits.openTasks)
        }
        arriving += 1
        defer { arriving -= 1 }
        let counts = strict || !isAttached
        var record = TaskRecord(
            task: BackgroundTask(
                id: 0,
                name: name,
                command: command,
                state: .running,
                budget: times.budget.roundedSeconds,
                grace: times.grace.roundedSeconds,
                strict: strict,
                repeat: isRepeated
            ),
            directory: directory,
            environment: environment,
            times: times,
            countingSince: counts ? now() : nil,
            boot: places.boot,
            position: position
        )
        let id = try await journal.add(record)
        record.task.id = id
        records[id] = record
        var budget = TaskBudget(limit: times.budget, grace: times.grace, countingSince: record.countingSince)
        // Clients may have attached or detached meanwhile.
        if !strict { if isAttached { budget.hold(at: now()) } else { budget.count(from: now()) } }
        open[id] = OpenTask(work: work, budget: budget)
        // A stop that began meanwhile has not seen the task.
        guard !isStopping else {
            await finish(id, .ended)
            throw TaskError.stopping
        }
        return id
    }

    func name(_ id: Int) -> String { records[id]?.task.name ?? "" }

    // MARK: - Repetition

    /// Begins expired tasks again that are marked to repeat.
    func repeatExpired() async {
        for id in records.keys.sorted() {
            guard let record = records[id], record.task.state == .expired, record.task.repeat, isAttached else {
                continue
            }
            // Another client may attach meanwhile. In the store the task repeats until the new one has begun.
            records[id]?.task.repeat = false
            do {
                if let position = record.position {
                    _ = try await beginSample(
                        record.times,
                        name: record.task.name,
                        from: Fibonacci(position: position),
                        repeating: id
                    )
                } else {
                    let request = TaskRequest(
                        name: record.task.name,
                        command: record.task.command,
                        directory: record.directory,
                        environment: record.environment,
                        strict: record.task.strict,
                        repeat: true
                    )
                    _ = try await begin(request, record.times, repeating: id)
                }
            } catch {
                logger.error("Cannot begin task \(id) (\(record.task.name)) again: \(error)")
                if case TaskError.cannotStart = error {
                    await store([id])
                } else {
                    // The task itself is not at fault: retry at the next attach.
                    records[id]?.task.repeat = true
                }
            }
        }
    }

    /// Moves the repetition from `old` to `new` in one transaction, so that exactly one of them repeats at any time.
    func passRepetition(of old: Int, to new: Int) async {
        records[old]?.task.repeat = false
        records[new]?.task.repeat = true
        guard await !store([old, new]) else { return }
        records[old]?.task.repeat = true
        records[new]?.task.repeat = false
    }
}
