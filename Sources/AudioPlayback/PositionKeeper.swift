package import BackgrounderAPI

/// The thread that keeps the position: each half second of sound it is written, so that a restart goes on from there, and
/// who watches the time from a thread is told of it in the same wakeup.
///
/// It may wait for the disk, and nobody waits for it. While nothing is heard it sleeps without a limit.
enum PositionKeeper {
    /// False when there is no thread to be had. `onFailure` is called once, until a write succeeds.
    static func start(
        _ pipeline: Pipeline,
        _ journal: any PlayerJournal,
        onFailure: @escaping @Sendable () -> Void
    ) -> Bool {
        (try? detachThread(named: "audio position") {
            var hasFailed = false
            while let work = pipeline.nextKeeping() {
                if let position = work.position {
                    do {
                        try journal.keep(position)
                        hasFailed = false
                    } catch {
                        if !hasFailed { onFailure() }
                        hasFailed = true
                    }
                }
                for call in work.calls { call() }
            }
        }) != nil
    }
}

/// What the keeper does at one time.
struct KeeperWork {
    var position: PlayerPosition?
    var calls: [() -> Void] = []
}

/// What the keeper needs to know.
struct KeeperState {
    /// The item that the stored state names, the job that plays it, and the state's number; what is heard of any other
    /// job is not worth keeping.
    struct Kept {
        var token: Int
        let item: PlayerItem
        let generation: Int
    }

    struct Watch {
        let id: Int
        let interval: Double
        let body: @Sendable (PlayerItem, Double) -> Void
        /// The time in the item at which it is told next.
        var due: Double
    }

    var kept: Kept?
    var watches: [Watch] = []
    var nextWatch = 0
    /// Times to which somebody jumped, and that the watches have not been told.
    var jumps: [(item: PlayerItem, elapsed: Double)] = []
    /// The job and the seconds that were seen at the last look.
    var seen: (token: Int, elapsed: Double) = (-1, 0)
    var nextSave = 0.0
    var savedAt: Int64 = 0
    /// It waits without a limit, until the sound goes on.
    var isResting = false
}

extension Pipeline {
    // judgement: how many seconds of the position a kill may cost
    private static var saveInterval: Double { 0.5 }
    /// A file is written many times faster than it is heard.
    private static var shortestSave: Int64 { 450_000_000 }
    private static var mostJumps: Int { 16 }

    /// What is to be done now, once there is something; `nil` when the pipeline is shut down.
    func nextKeeping() -> KeeperWork? {
        monitor.wait(in: .keeper) { state in
            if state.isShutDown { return .done(nil) }
            state.keeper.isResting = false
            var work = KeeperWork()
            for jump in state.keeper.jumps { self.tell(jump.item, jump.elapsed, state.keeper, &work) }
            state.keeper.jumps = []
            let now = monotonicNow()
            let wait = self.keep(&state, now, &work)
            if work.position != nil || !work.calls.isEmpty { return .done(work) }
            state.keeper.isResting = wait == nil
            return .wait(until: wait)
        }
    }

    /// Adds what is due; else when it will be, `nil` while nothing is heard.
    private func keep(_ state: inout PipelineState, _ now: Int64, _ work: inout KeeperWork) -> Int64? {
        guard state.isPlaying, let kept = state.keeper.kept else { return nil }
        let (token, elapsed) = position(state, now)
        guard token == kept.token else { return nil }
        let before = state.keeper.seen
        state.keeper.seen = (token, elapsed)
        if before.token != token || elapsed < before.elapsed {
            state.keeper.nextSave = Self.next(after: elapsed, every: Self.saveInterval)
            setWatches(&state, after: elapsed)
        } else if elapsed == before.elapsed, !state.meter.isRunning(at: now) {
            // The next sound that is given to the device ends the rest.
            return nil
        }
        let isHeard = state.device?.kind != .file
        // A millisecond is less than any interval, and more than timers are early by.
        if elapsed >= state.keeper.nextSave - 0.001, now - state.keeper.savedAt >= Self.shortestSave {
            state.keeper.nextSave = Self.next(after: elapsed, every: Self.saveInterval)
            state.keeper.savedAt = now
            work.position = PlayerPosition(generation: kept.generation, itemID: kept.item.id, elapsed: elapsed)
        }
        var due = state.keeper.nextSave
        for index in state.keeper.watches.indices where isHeard {
            let watch = state.keeper.watches[index]
            if elapsed >= watch.due - 0.001 {
                state.keeper.watches[index].due = Self.next(after: elapsed, every: watch.interval)
                work.calls.append { watch.body(kept.item, elapsed) }
            }
            due = min(due, state.keeper.watches[index].due)
        }
        let isLimited = !isHeard || due <= elapsed
        return max(now + Int64((due - elapsed) * 1e9), isLimited ? state.keeper.savedAt + Self.shortestSave : 0)
    }

    private func tell(_ item: PlayerItem, _ elapsed: Double, _ keeper: KeeperState, _ work: inout KeeperWork) {
        for watch in keeper.watches { work.calls.append { watch.body(item, elapsed) } }
    }

    private func setWatches(_ state: inout PipelineState, after elapsed: Double) {
        for index in state.keeper.watches.indices {
            let interval = state.keeper.watches[index].interval
            state.keeper.watches[index].due = Self.next(after: elapsed, every: interval)
        }
    }

    private static func next(after elapsed: Double, every interval: Double) -> Double {
        (((elapsed + 0.001) / interval).rounded(.down) + 1) * interval
    }

    /// The item that is kept begins again, elsewhere or on another device, by another job.
    func keepOn(_ state: inout PipelineState, with job: DecodingJob?) {
        if let job, job.itemID == state.keeper.kept?.item.id { state.keeper.kept?.token = job.token }
    }

    // MARK: What the player calls

    /// The state that is stored now; positions go with it from here on.
    func setKept(_ kept: KeeperState.Kept?) {
        monitor.withLock { $0.keeper.kept = kept }
        monitor.signal(.keeper)
    }

    func tellJump(_ item: PlayerItem, _ elapsed: Double) {
        monitor.withLock { state in
            guard !state.keeper.watches.isEmpty else { return }
            state.keeper.jumps = state.keeper.jumps.suffix(Self.mostJumps - 1) + [(item, elapsed)]
            setWatches(&state, after: elapsed)
            monitor.signal(.keeper)
        }
    }

    func addWatch(every interval: Double, _ body: @escaping @Sendable (PlayerItem, Double) -> Void) -> Int {
        monitor.withLock { state in
            state.keeper.nextWatch += 1
            let due = Self.next(after: position(state, monotonicNow()).elapsed, every: interval)
            let id = state.keeper.nextWatch
            state.keeper.watches.append(KeeperState.Watch(id: id, interval: interval, body: body, due: due))
            monitor.signal(.keeper)
            return id
        }
    }

    func removeWatch(_ id: Int) { monitor.withLock { $0.keeper.watches.removeAll { $0.id == id } } }
}

/// Watching the time from a thread.
extension QueuePlayer {
    /// Calls `body` on a thread that may wait for the disk, with the current item and the seconds of it that were heard:
    /// at each multiple of `interval` (10 ms at least) while it plays, and once more at every jump. Costs no wakeup where
    /// the position is kept at the same time. Ends with ``endWatch(_:)``.
    package nonisolated func watchTime(
        forInterval interval: Duration,
        _ body: @escaping @Sendable (PlayerItem, Double) -> Void
    ) -> Int {
        pipeline.addWatch(every: max(interval.seconds, 0.01), body)
    }

    /// `body` may be called once more by then.
    package nonisolated func endWatch(_ id: Int) { pipeline.removeWatch(id) }

    /// Where the system has no thread to give, it is tried again at the next start of playing.
    func startKeeperIfNeeded() {
        guard !hasKeeper else { return }
        hasKeeper = PositionKeeper.start(pipeline, journal) { [weak self] in
            guard let self else { return }
            Task { await self.positionNotKept() }
        }
    }

    /// The state, which has a position too, says what is wrong, and that it is right again.
    private func positionNotKept() async {
        guard !isShuttingDown else { return }
        unsaved.state = true
        await commit()
    }
}
