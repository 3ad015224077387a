import BackgrounderAPI
package import FoundationEssentials
package import Logging
import ServiceLifecycle
import Synchronization
import SystemSupport

/// Fetches sources when they are due, on request, and when the service is awake for another reason.
///
/// The start of a run is stored before the run does anything. The scheduler sleeps until the first source must run, and
/// then starts all runs that may share the wakeup. If there is nothing to wait for, it sets no timer.
///
///     let scheduler = FetchScheduler(saved, journal: journal, origin: LiveOrigin(…), clock: clock, logger: logger) { … }
///     let run = try await scheduler.run("news", .manual)
package actor FetchScheduler: Service {
    /// A source with its state and its plan.
    struct Source {
        var definition: FetchDefinition
        /// Whether the configuration declares it.
        var isDeclared: Bool
        var state: FetchSourceState
        /// The number of new items since the last open.
        var unseen = 0
        /// The opens, oldest first.
        var opens: [FetchOpen] = []
        /// The habit from which the plan was made.
        var habit: UsageHabit?
        /// The planned runs of today and tomorrow; empty until they are needed.
        var plan: [PlannedSlot] = []
        /// The runs a day and the spacing for which the plan was made.
        var plannedRuns = 0
        var plannedSpacing = 0.0
        /// When the plan must be replaced.
        var planEnd = Date.distantPast
        /// Whether a planned run may have been missed while nothing could run.
        var isOverdue = false
    }

    /// Where the scheduler is in its life cycle.
    package enum Phase {
        /// Nothing is planned. Single runs are possible.
        case created
        case working
        /// The service is stopping, and the current runs are cancelled.
        case ending
    }

    /// A run in progress. Requests for another run of the same source wait for this one.
    struct Running {
        var run: FetchRun
        let task: Task<FetchRun, Never>
        /// Whether it counts towards the concurrency limits.
        let isAutomatic: Bool
        /// Whether its source was removed. Nothing of the run is stored then, because a new source may have the name.
        var isRemoved = false
    }

    let journal: any FetchJournal
    let origin: any FetchOrigin
    let downloader: FetchDownloader?
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    let zone: LocalZone
    /// Returns a random part of a delay (full jitter).
    let jitter: @Sendable (Double) -> Double
    let logger: Logger
    let onEvent: @Sendable (FetchEvent) -> Void

    /// The names of the sources in the order in which they were added.
    var names: [String] = []
    var sources: [String: Source] = [:]
    var running: [String: Running] = [:]
    /// The sources that are due but wait because of the concurrency limits.
    var waiting: [String: FetchTrigger] = [:]
    /// The configuration file, for errors about declared sources.
    var declarationFile = ""
    var isOn: Bool
    var lastRun: Int
    var isDeclared = true
    var isAnyoneAttached = false
    package private(set) var phase = Phase.created
    /// The turn for changes of the stored state.
    let turn = Turn()
    /// Runs of an earlier process without a stored end.
    private var openRuns: [FetchRun]
    /// By source: a run with an end that could not be stored. It is stored with the start of the next run.
    var untold: [String: FetchRun] = [:]
    private(set) var timer: (at: Date, task: Task<Void, Never>)?
    /// The time before which ``ride()`` has nothing to do.
    private let gate = Mutex(Date.distantFuture)

    /// Creates a scheduler with the saved sources. It starts no runs before ``begin()`` or ``run()``.
    ///
    /// - Parameters:
    ///   - downloader: adds transfers for enclosures; `nil` to download none.
    ///   - now: the wall clock.
    ///   - jitter: returns a random number from 0 to its argument.
    ///   - onEvent: called on this actor; must not block.
    package init(
        _ saved: SavedFetchState,
        journal: any FetchJournal,
        origin: any FetchOrigin,
        downloader: FetchDownloader? = nil,
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date = { Date() },
        zone: LocalZone = .system,
        jitter: @escaping @Sendable (Double) -> Double = { Double.random(in: 0...$0) },
        logger: Logger,
        onEvent: @escaping @Sendable (FetchEvent) -> Void
    ) {
        self.journal = journal
        self.origin = origin
        self.downloader = downloader
        self.clock = clock
        self.now = now
        self.zone = zone
        self.jitter = jitter
        self.logger = logger
        self.onEvent = onEvent
        isOn = saved.isOn
        lastRun = saved.lastRun
        openRuns = saved.openRuns
        for entry in saved.sources {
            let name = entry.definition.name
            names.append(name)
            sources[name] = Source(
                definition: entry.definition,
                isDeclared: entry.isDeclared,
                state: entry.state,
                unseen: entry.unseen,
                opens: saved.opens[name] ?? []
            )
        }
    }

    /// Fetches until a graceful shutdown or until the task is cancelled, then cancels the current runs and waits for
    /// their end.
    package func run() async throws {
        try await begin()
        let (jumps, jump) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watch = ClockWatch { jump.yield() }
        // In child tasks, because planning many sources takes longer than the end of the service may.
        await withDiscardingTaskGroup { group in
            await withGracefulShutdownHandler {
                for await _ in jumps where !Task.isShuttingDownGracefully {
                    group.addTask { await self.clockChanged() }
                }
            } onGracefulShutdown: {
                jump.finish()
            }
            watch.stop()
            await finish()
        }
    }

    /// Stores an end for runs that a crash interrupted.
    ///
    /// - Throws: the error of the journal.
    package func closeOpenRuns() async throws {
        if !openRuns.isEmpty {
            let ended = openRuns.map { run in
                var run = run
                run.end(at: now(), after: nil, FetchFailure("the service ended during the fetch", kind: .cancelled))
                return run
            }
            try await journal.save(ended.map(FetchChange.ended))
            openRuns = []
        }
    }

    /// Starts the scheduler, and the runs that are due.
    ///
    /// - Throws: the error of the journal.
    package func begin() async throws {
        try await closeOpenRuns()
        phase = .working
        forgetFuture()
        noteMissedRuns()
        for name in names { handDownloadsOver(name) }
        await planAndWake()
    }

    /// Cancels all runs and waits for their end.
    private func finish() async {
        phase = .ending
        disarm()
        for running in running.values { running.task.cancel() }
        for task in running.values.map(\.task) { _ = await task.value }
    }

    /// Starts the runs that may share the current wakeup. May be called from any thread, and is cheap enough for every
    /// fix.
    ///
    /// - Returns: the task that starts the runs; `nil` if none may run yet.
    @discardableResult
    package nonisolated func ride() -> Task<Void, Never>? {
        let date = now()
        let isOpen = gate.withLock { gate in
            guard date >= gate else { return false }
            // One task is enough until the timer is set again.
            gate = .distantFuture
            return true
        }
        return isOpen ? Task { await planAndWake(isRide: true) } : nil
    }

    /// Whether a run is in progress.
    package var hasWork: Bool { !running.isEmpty }

    /// Updates whether a client is attached and whether the mode is declared.
    ///
    /// When the first client attaches, all sources count as opened.
    package func apply(isAnyoneAttached: Bool, isDeclared: Bool) async {
        let isNew = isAnyoneAttached && !self.isAnyoneAttached
        let wasSuspended = isSuspended
        self.isAnyoneAttached = isAnyoneAttached
        self.isDeclared = isDeclared
        if isNew {
            do {
                try await open(names)
            } catch {
                logger.warning("Cannot record that the sources were opened: \(error)")
            }
        }
        if wasSuspended, !isSuspended { noteMissedRuns() }
        await planAndWake(isRide: isNew)
    }

    /// Whether automatic runs are suspended: the mode is not declared, and no client is attached.
    var isSuspended: Bool { !isDeclared && !isAnyoneAttached }

    /// Makes new plans after the clock or the time zone has changed.
    func clockChanged() async {
        disarm()
        LocalZone.reread()
        forgetFuture()
        for name in names { sources[name]?.planEnd = .distantPast }
        await planAndWake()
    }

    /// Corrects recorded times that are in the future.
    private func forgetFuture() {
        for name in names { sources[name]?.state.forgetFuture(at: now()) }
    }

    /// Refreshes the plans, then calls ``wake(isRide:isOwn:)``.
    func planAndWake(isRide: Bool = false, isOwn: Bool = false) async {
        await refreshPlans()
        wake(isRide: isRide, isOwn: isOwn)
    }

    /// Starts the runs that are due and those that may share the wakeup, then sets the timer.
    ///
    /// - Parameters:
    ///   - isRide: whether the service is awake for another reason. Runs with open windows start even if none is due.
    ///   - isOwn: whether the timer of the scheduler fired, which may be before the first deadline.
    func wake(isRide: Bool = false, isOwn: Bool = false) {
        guard phase == .working else { return }
        let date = now()
        let candidates = candidates(at: date)
        if isRide || isOwn || candidates.contains(where: { $0.run.window.deadline <= date }) {
            let open = candidates.filter { $0.run.window.isOpen(at: date) && waiting[$0.run.source] == nil }
            // A timer that fires early does so for the run with the first deadline, so that run is not a ride.
            let first = isOwn ? open.map(\.run.window.deadline).min() : nil
            for (run, trigger) in open {
                waiting[run.source] = run.window.deadline <= max(date, first ?? date) ? trigger : .ride
            }
        }
        startWaiting()
        arm()
    }

    /// Returns the next run of each source that is not running, unless it never runs automatically.
    private func candidates(at date: Date) -> [(run: WaitingRun, trigger: FetchTrigger)] {
        names.compactMap { name in
            guard running[name] == nil, case .window(let window, let trigger, _) = timing(name, at: date) else {
                return nil
            }
            let definition = sources[name]?.definition
            return (
                WaitingRun(
                    source: name,
                    host: definition?.host,
                    window: window,
                    interval: definition?.interval.seconds
                ),
                trigger
            )
        }
    }

    /// Sets the timer for the next wakeup of the ``Coalescer``, or the end of a plan.
    private func arm() {
        let date = now()
        let candidates = candidates(at: date).map(\.run).filter { waiting[$0.source] == nil }
        gate.withLock { $0 = Coalescer.nextRide(candidates) ?? .distantFuture }
        let isPlanning = { [self] (name: String) in
            sources[name]?.definition.interval == .minimum && running[name] == nil
        }
        let midnight =
            isSuspended ? nil : names.lazy.filter(isPlanning).compactMap { [self] in sources[$0]?.planEnd }.min()
        let first = min(Coalescer.nextWakeup(candidates, from: date) ?? .distantFuture, midnight ?? .distantFuture)
        guard first < .distantFuture else { return disarm() }
        if let timer, timer.at == first { return }
        timer?.task.cancel()
        let delay = Duration.seconds(min(max(0, first.timeIntervalSince(date)), 1e9))
        let task = Task { [clock] in
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            await timerFired()
        }
        timer = (first, task)
    }

    private func timerFired() async {
        guard !Task.isCancelled else { return }
        timer = nil
        await planAndWake(isOwn: true)
    }

    private func disarm() {
        timer?.task.cancel()
        timer = nil
        gate.withLock { $0 = .distantFuture }
    }

    /// Starts waiting runs, within the concurrency limits.
    private func startWaiting() {
        guard !waiting.isEmpty else { return }
        let date = now()
        let candidates = candidates(at: date).map(\.run)
        // Drop runs that are no longer due because a command changed their source.
        waiting = waiting.filter { entry in candidates.contains { $0.source == entry.key && $0.window.isOpen(at: date) }
        }
        let busy = running.values.filter(\.isAutomatic).map { sources[$0.run.source]?.definition.host }
        for run in Coalescer.runs(candidates.filter { waiting[$0.source] != nil }, at: date, running: busy) {
            guard let trigger = waiting.removeValue(forKey: run.source) else { continue }
            start(run.source, trigger, isAutomatic: true)
        }
    }
}

extension FetchInterval {
    /// The seconds of a custom interval; `nil` for the others.
    fileprivate var seconds: Double? {
        if case .custom(let seconds) = self { seconds } else { nil }
    }
}

extension FetchDefinition {
    /// The host and port in the URL, to which the first request goes; `nil` for a command.
    var host: String? {
        guard let url, let start = url.firstRange(of: "://")?.upperBound else { return nil }
        return url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
    }
}
