import BackgrounderAPI
package import FoundationEssentials
package import Logging
import ServiceLifecycle
import Synchronization

/// Fetches its sources when their time comes, when somebody asks, and when the service is awake for something else.
///
/// All that it decides is stored before it is done. It sleeps until the first source must run and then takes along all that
/// may; where nothing is to come, no timer is armed.
///
///     let scheduler = FetchScheduler(saved, journal: journal, origin: LiveOrigin(…), clock: clock, logger: logger) { … }
///     let run = try await scheduler.run("news", .manual)
package actor FetchScheduler: Service {
    struct Source {
        var definition: FetchDefinition
        var standing: FetchStanding
        var unseen = 0
        var opens: [OpenRecord] = []
        /// As it was when the plan was made.
        var habit: UsageHabit?
        /// Of today and tomorrow; empty until it is needed.
        var plan: [PlannedSlot] = []
        /// What the plan was made for.
        var plannedRuns = 0
        var plannedSpacing = 0.0
        /// The plan holds until then.
        var planEnd = Date.distantPast
        /// A run of its plan may have been missed: nothing could run.
        var isOverdue = false
    }

    /// A run under way; who asks for another one waits for this.
    struct Running {
        var run: FetchRun
        let task: Task<FetchRun, Never>
        /// Whether it takes one of the places, and its host's.
        let isAutomatic: Bool
    }

    let journal: any FetchJournal
    let origin: any FetchOrigin
    let downloader: FetchDownloader?
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    let zone: LocalZone
    /// Of a delay, a random part of the whole: full jitter.
    let jitter: @Sendable (Double) -> Double
    let logger: Logger
    let onEvent: @Sendable (FetchEvent) -> Void

    /// In the order in which they were added.
    var names: [String] = []
    var sources: [String: Source] = [:]
    var running: [String: Running] = [:]
    /// Those whose time has come, and that wait for a place.
    var waiting: [String: FetchTrigger] = [:]
    var isOn: Bool
    var lastRun: Int
    var isDeclared = true
    var isAnyoneAttached = false
    var isAtWork = false
    /// The service stops: what is under way is broken off.
    package private(set) var isEnding = false
    /// Whether a change is being stored, and who waits for it.
    var isChanging = false
    var changers: [CheckedContinuation<Void, Never>] = []
    private var openRuns: [FetchRun]
    /// By source: a run whose end could not be stored. It goes along with the beginning of the next one.
    var untold: [String: FetchRun] = [:]
    private(set) var timer: (at: Date, task: Task<Void, Never>)?
    private let gate = Mutex(Date.distantFuture)

    /// - Parameters:
    ///   - downloader: takes the enclosures of the sources that want them.
    ///   - now: the clock on the wall.
    ///   - jitter: from 0 to its argument, at random.
    ///   - onEvent: called on this actor; must not wait.
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
                standing: entry.standing,
                unseen: entry.unseen,
                opens: saved.opens[name] ?? []
            )
        }
    }

    /// Fetches what is due until the service stops; then the runs under way are broken off.
    package func run() async throws {
        try await begin()
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let watch = ClockWatch { [weak self] in Task { await self?.clockChanged() } }
        await withGracefulShutdownHandler {
            await withTaskCancellationHandler {
                for await _ in ends {}
            } onCancel: {
                end.finish()
            }
        } onGracefulShutdown: {
            end.finish()
        }
        watch.end()
        await finish()
    }

    /// Tells of runs that a crash broke off.
    package func closeOpenRuns() async throws {
        if !openRuns.isEmpty {
            let ended = openRuns.map { run in
                var run = run
                run.end(at: now(), after: nil, FetchFailure("the service ended in the middle of it", kind: .cancelled))
                return run
            }
            try await journal.save(ended.map(FetchChange.ended))
            openRuns = []
        }
    }

    /// Lets what is due begin.
    package func begin() async throws {
        try await closeOpenRuns()
        isAtWork = true
        forgetFuture()
        noteMissedRuns()
        for name in names { handDownloadsOver(name) }
        await planAndWake()
    }

    private func finish() async {
        isEnding = true
        isAtWork = false
        disarm()
        for running in running.values { running.task.cancel() }
        for task in running.values.map(\.task) { _ = await task.value }
    }

    /// The machine is awake: what may run now does. Cheap enough for every fix, from any thread.
    ///
    /// - Returns: what begins the runs; `nil` where none may run yet.
    @discardableResult
    package nonisolated func ride() -> Task<Void, Never>? {
        let date = now()
        let isOpen = gate.withLock { gate in
            guard date >= gate else { return false }
            // One is enough until the next arming.
            gate = .distantFuture
            return true
        }
        return isOpen ? Task { await planAndWake(isRide: true) } : nil
    }

    /// Whether a run is under way.
    package var hasWork: Bool { !running.isEmpty }

    /// The modes that may go on, and who is there, may have changed.
    ///
    /// Somebody who attaches has opened all sources.
    package func apply(isAnyoneAttached: Bool, isDeclared: Bool) async {
        let isNew = isAnyoneAttached && !self.isAnyoneAttached
        let wasSuspended = isSuspended
        self.isAnyoneAttached = isAnyoneAttached
        self.isDeclared = isDeclared
        if isNew { try? await open(names) }
        if wasSuspended, !isSuspended { noteMissedRuns() }
        await planAndWake(isRide: isNew)
    }

    /// Nobody is attached, and the mode may not go on without.
    var isSuspended: Bool { !isDeclared && !isAnyoneAttached }

    /// Another time, or another zone.
    func clockChanged() async {
        disarm()
        LocalZone.reread()
        forgetFuture()
        for name in names { sources[name]?.planEnd = .distantPast }
        await planAndWake()
    }

    private func forgetFuture() {
        for name in names { sources[name]?.standing.forgetFuture(at: now()) }
    }

    /// As ``wake(isRide:isOwn:)``, with plans that hold.
    func planAndWake(isRide: Bool = false, isOwn: Bool = false) async {
        await refreshPlans()
        wake(isRide: isRide, isOwn: isOwn)
    }

    /// For who only looks: plans that hold, and a timer that goes by them.
    func planAndArm() async {
        if await refreshPlans(), isAtWork { arm() }
    }

    /// Starts what is due, with what may ride along, and sleeps until the next.
    ///
    /// - Parameters:
    ///   - isRide: the wakeup is another's, so that what may run does also where nothing must.
    ///   - isOwn: it is the one that was armed, perhaps before anything must.
    func wake(isRide: Bool = false, isOwn: Bool = false) {
        guard isAtWork else { return }
        let date = now()
        let candidates = candidates(at: date)
        if isRide || isOwn || candidates.contains(where: { $0.run.window.deadline <= date }) {
            let open = candidates.filter { $0.run.window.isOpen(at: date) && waiting[$0.run.source] == nil }
            // Where it woke up sooner than it must, that was for the first of them.
            let first = isOwn ? open.map(\.run.window.deadline).min() : nil
            for (run, trigger) in open {
                waiting[run.source] = run.window.deadline <= max(date, first ?? date) ? trigger : .ride
            }
        }
        startWaiting()
        arm()
    }

    /// The sources that do not run, with when they may.
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

    /// Sleeps until the first source must run, or a plan ends.
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

    /// Begins as many of those that wait as there are places.
    private func startWaiting() {
        guard !waiting.isEmpty else { return }
        let date = now()
        let candidates = candidates(at: date).map(\.run)
        // What a command changed in the meantime waits no longer.
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
    /// Of a custom one.
    fileprivate var seconds: Double? {
        if case .custom(let seconds) = self { seconds } else { nil }
    }
}

extension FetchDefinition {
    /// The host that its requests go to first; none for a command.
    var host: String? {
        guard let url, let start = url.firstRange(of: "://")?.upperBound else { return nil }
        return url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
    }
}
