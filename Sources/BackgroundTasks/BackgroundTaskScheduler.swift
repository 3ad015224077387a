package import BackgrounderAPI
import ChildProcesses
import FoundationEssentials
import Glibc
package import Logging
import ServiceLifecycle
import SystemSupport

/// The finite-length tasks. A task is a command, or the built-in sample, with a time budget that counts while no client is
/// attached. Shortly before the budget ends the task is asked to end; at its end it is killed.
///
/// The budget counts on the monotonic clock. A single timer runs, for the next task that must be asked or killed, or whose
/// end must be stored again.
package actor BackgroundTaskScheduler: Service {
    /// The paths and ids that a scheduler uses.
    package struct Places: Sendable {
        /// The program that runs as keeper process: `backgrounderd`.
        package var keeper: String
        /// The absolute path of an existing folder for the output of tasks.
        package var folder: String
        /// The beginning of the paths of the keepers' sockets; short, since the kernel allows 107 bytes.
        package var socketPrefix: String
        /// The kernel's id of this boot.
        package var boot: String
        /// The random id of this instance, which distinguishes its tasks from those of others.
        package var instance: String
        /// Variables for all commands, besides the few that every command inherits.
        package var environment: [String: String]

        /// Creates the places from their parts.
        package init(
            keeper: String,
            folder: String,
            socketPrefix: String,
            boot: String,
            instance: String,
            environment: [String: String] = [:]
        ) {
            self.keeper = keeper
            self.folder = folder
            self.socketPrefix = socketPrefix
            self.boot = boot
            self.instance = instance
            self.environment = environment
        }

        func output(_ id: Int) -> String { "\(folder)/\(id).log" }
        func result(_ id: Int) -> String { "\(folder)/\(id).end" }
        func socket(_ id: Int) -> String { socketPrefix + String(id) }
        func mark(_ id: Int) -> (name: String, value: String) { ("BACKGROUNDER_TASK", "\(instance)-\(id)") }
        func markVariable(_ id: Int) -> String { "\(mark(id).name)=\(mark(id).value)" }
    }

    let places: Places
    let journal: any TaskJournal
    let clock: any Clock<Duration>
    /// The monotonic clock.
    let now: @Sendable () -> Duration
    let logger: Logger
    let onChange: @Sendable (BackgroundTask) -> Void

    /// The open tasks and the newest ended ones.
    var records: [Int: TaskRecord]
    var open: [Int: OpenTask] = [:]
    /// The ids of ended tasks, in the order of their ends.
    var over: [Int]
    var hooks: [TaskHook]
    /// The turn for changes of the hooks.
    let hookTurn = Turn()
    /// The configuration file, for errors about declared hooks.
    var declarationFile = ""
    /// Callers that wait until the end of a task is stored.
    var ending: [Int: [CheckedContinuation<Void, Never>]] = [:]
    /// An end that is not in the journal yet.
    private struct UnstoredEnd {
        /// Whether the keeper's result file is kept until then.
        var isKept: Bool
        /// When to store it again.
        var retry: Duration
    }

    /// The ends that are not in the journal yet, by task (see ``storeEnd(_:)``).
    private var unstoredEnds: [Int: UnstoredEnd] = [:]
    /// The number of tasks that wait for an id.
    var arriving = 0
    var isAttached = false
    private var timer: Task<Void, Never>?
    /// Reads the output of tasks.
    private let reader = QueueExecutor("backgrounder.tasks.output")
    private(set) var isStopping = false
    private var stopDeadline: Duration?
    private var stopped: CheckedContinuation<Void, Never>?

    /// Creates a scheduler; ``resume()`` takes over running tasks.
    ///
    /// - Parameters:
    ///   - clock: for sleeping.
    ///   - now: returns the time of the monotonic clock, on which the budgets count; keepers use the same.
    ///   - onChange: called after each change of a task.
    package init(
        _ saved: SavedTasks,
        places: Places,
        journal: any TaskJournal,
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Duration = { MonotonicTime.now.sinceStart },
        logger: Logger,
        onChange: @escaping @Sendable (BackgroundTask) -> Void
    ) {
        self.places = places
        self.journal = journal
        self.clock = clock
        self.now = now
        self.logger = logger
        self.onChange = onChange
        records = Dictionary(saved.records.map { ($0.task.id, $0) }) { $1 }
        over = saved.records.filter { !$0.task.state.isOpen }.map(\.task.id)
        hooks = saved.hooks
    }

    /// Runs until the graceful shutdown; all tasks then get a second to end.
    package func run() async throws {
        try? await gracefulShutdown()
        await stop()
    }

    /// Returns the open tasks and the newest ended ones, oldest first.
    package func tasks() -> [BackgroundTask] {
        records.keys.sorted().compactMap(value)
    }

    /// Returns the open tasks, oldest first.
    package func openTasks() -> [BackgroundTask] {
        open.keys.sorted().compactMap(value)
    }

    package var isAtWork: Bool { !open.isEmpty || arriving > 0 }

    /// Returns a task as it is now.
    ///
    /// - Throws: ``TaskError/noSuchTask(id:)``.
    package func task(_ id: Int) throws(TaskError) -> BackgroundTask {
        guard let task = value(id) else { throw .noSuchTask(id: id) }
        return task
    }

    /// Returns the output of a task so far.
    ///
    /// - Throws: ``TaskError/noSuchTask(id:)``.
    package func output(_ id: Int) async throws(TaskError) -> TaskOutput {
        guard records[id] != nil else { throw .noSuchTask(id: id) }
        let path = places.output(id)
        // The sample has no output file, and a deleted file counts as empty.
        let bytes = await reader.run { (try? Data(contentsOf: URL(filePath: path))) ?? Data() }
        return TaskOutput(
            id: id,
            text: String(decoding: bytes, as: UTF8.self),
            truncated: bytes.count >= TaskLimits.outputLimit
        )
    }

    /// Starts or stops counting budgets because the first client attached or the last one detached.
    package func apply(isAnyoneAttached: Bool) async {
        let (was, time) = (isAttached, now())
        isAttached = isAnyoneAttached
        var changed: [Int] = []
        for (id, var task) in open where records[id]?.task.strict == false {
            guard case .running = task.phase else { continue }
            if isAnyoneAttached { task.budget.hold(at: time) } else { task.budget.count(from: time) }
            open[id] = task
            task.process?.lease(task.lease)
            changed.append(id)
        }
        arm()
        await store(changed)
        for id in changed { tell(id) }
        if !isAnyoneAttached { for id in changed { logRemaining(id) } }
        // Not awaited: the client must not wait for the tasks that it causes.
        if isAnyoneAttached { Task { await repeatExpired() } }
        if was, !isAnyoneAttached { Task { await runDetachHooks() } }
    }

    // MARK: - Time

    /// Sets the timer for the next due task.
    func arm() {
        timer?.cancel()
        timer = nil
        let retries = isStopping ? [] : unstoredEnds.values.map(\.retry)
        guard let next = (open.values.compactMap(\.due) + retries + [stopDeadline].compactMap(\.self)).min()
        else { return }
        let delay = max(.zero, next - now())
        timer = Task { [clock] in
            guard (try? await clock.sleep(for: delay)) != nil, !Task.isCancelled else { return }
            await self.timeCame()
        }
    }

    private func timeCame() async {
        // The timer is the current task, which must not be cancelled.
        timer = nil
        let time = now()
        var changed: [Int] = []
        // Everything that must happen in time comes first; storing it comes later.
        for (id, task) in open {
            guard let due = task.due, due <= time else { continue }
            switch task.phase {
            case .running: expire(id, at: time)
            case .expiring: kill(id, at: time)
            case .killing:
                task.process?.killKeeper()
                open[id]?.phase = .killing(giveUp: time + TaskLimits.keeperPatience)
            }
            changed.append(id)
        }
        for id in changed { open[id]?.process?.wakeKeeper() }
        if let deadline = stopDeadline, deadline <= time { finishStop() }
        let retried = isStopping ? [] : unstoredEnds.keys.filter { unstoredEnds[$0].map { $0.retry <= time } ?? false }
        for id in retried { unstoredEnds[id]?.retry = time + TaskLimits.storeAgain }
        arm()
        await store(changed)
        // The sample ends immediately when it expires.
        for id in changed {
            if case .sample? = open[id]?.work { await finish(id, .expired) }
        }
        for id in retried where unstoredEnds[id] != nil { await storeEnd(id) }
    }

    // MARK: - The end of the service

    private func stop() async {
        isStopping = true
        let time = now()
        for id in open.keys.sorted() { await requestEnd(id, within: TaskLimits.stopGrace, at: time) }
        guard !open.isEmpty else { return }
        stopDeadline = now() + TaskLimits.stopGrace + TaskLimits.stopPatience
        arm()
        await withCheckedContinuation { continuation in
            if open.isEmpty { continuation.resume() } else { stopped = continuation }
        }
        timer?.cancel()
    }

    func finishStop() {
        stopDeadline = nil
        stopped?.resume()
        stopped = nil
    }

    // MARK: - Values

    /// Returns the task as it is now.
    func value(_ id: Int) -> BackgroundTask? {
        guard var task = records[id]?.task else { return nil }
        if let end = unstoredEnds[id], task.detail == nil {
            task.detail = "the end is not stored" + (end.isKept ? " yet" : ", so it is lost at a restart")
        }
        guard let open = open[id] else { return task }
        let time = now()
        task.used = open.budget.used(at: time).roundedSeconds
        task.remaining = open.remaining(at: time)?.roundedSeconds
        return task
    }

    func tell(_ id: Int) {
        if let task = value(id) { onChange(task) }
    }

    /// Stores the records of `ids` as they are. A failure is logged, and the tasks continue.
    ///
    /// - Returns: whether they are stored.
    @discardableResult
    func store(_ ids: [Int]) async -> Bool {
        guard !ids.isEmpty else { return true }
        for id in ids {
            guard let budget = open[id]?.budget else { continue }
            records[id]?.used = budget.usedBefore
            records[id]?.countingSince = budget.countingSince
            records[id]?.task.used = budget.usedBefore.roundedSeconds
        }
        do {
            try await journal.save(ids.compactMap { records[$0] })
            return true
        } catch {
            logger.error("Cannot save the tasks: \(error)")
            return false
        }
    }

    /// Stores the end of a task, retrying later if that fails. Until then the keeper's result file is kept, so that a new process
    /// learns how the command ended; except after a requested end, which it would take for an expiration.
    func storeEnd(_ id: Int) async {
        let result = places.result(id)
        guard await store([id]) else {
            if records[id]?.isEndRequested == true { unlink(result) }
            unstoredEnds[id] = UnstoredEnd(
                isKept: access(result, F_OK) == 0,
                retry: now() + TaskLimits.storeAgain
            )
            arm()
            return
        }
        if unstoredEnds.removeValue(forKey: id) != nil {
            arm()
            tell(id)
        }
        unlink(result)
    }

    /// Whether the end of an ended task is in the journal.
    func isEndStored(_ id: Int) -> Bool { unstoredEnds[id] == nil && ending[id] == nil }

    func logRemaining(_ id: Int) {
        guard !isAttached, let task = open[id] else { return }
        if case .sample = task.work { return }
        if let left = task.remaining(at: now()) {
            logger.info("Background time remaining = \(left.seconds.decimals(1)) seconds")
        }
    }
}

extension Duration {
    /// The seconds, rounded to milliseconds.
    var roundedSeconds: Double { (seconds * 1000).rounded() / 1000 }
}
