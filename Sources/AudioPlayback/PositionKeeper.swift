package import BackgrounderAPI

/// The thread that stores the position every half second of sound, so that a restart resumes there. It also notifies
/// watchers of the time in the same wakeup.
///
/// It may wait for the disk, and nothing waits for it. While nothing is heard it sleeps until the sound resumes.
enum PositionKeeper {
    /// Starts the thread. Returns false if the system has none. `onFailure` is called for the first of a series of failed
    /// writes.
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

/// The work of one wakeup.
struct KeeperWork {
    var position: PlayerPosition?
    var calls: [() -> Void] = []
}

/// The thread's state, under the pipeline's lock.
struct KeeperState {
    /// The item in the stored state, the job that plays it, and the number of that state. Positions of other jobs are not
    /// stored.
    struct Kept {
        var token: Int
        let item: PlayerItem
        let generation: Int
    }

    struct Watch {
        let id: Int
        let interval: Double
        let body: @Sendable (PlayerItem, Double) -> Void
        /// The time in the item of the next notification.
        var due: Double
    }

    var kept: Kept?
    var watches: [Watch] = []
    var nextWatch = 0
    /// Jumps that the watchers have not been told about.
    var jumps: [(item: PlayerItem, elapsed: Double)] = []
    /// The job and its seconds at the last wakeup.
    var seen: (token: Int, elapsed: Double) = (-1, 0)
    var nextSave = 0.0
    var savedAt: Int64 = 0
    /// The thread waits until the sound resumes.
    var isResting = false
}

extension Pipeline {
    /// Tuned: the seconds of position that a kill may lose.
    private static var saveInterval: Double { 0.5 }
    /// The least time between two writes, in nanoseconds: a file device runs many times faster than real time.
    private static var shortestSave: Int64 { 450_000_000 }
    private static var mostJumps: Int { 16 }

    /// Waits for work. Returns nil when the pipeline is shut down.
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

    /// Adds the work that is due, or returns when the next will be; nil while nothing is heard.
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
            // The next sound handed to the device ends the rest.
            return nil
        }
        let isHeard = state.device?.kind != .file
        // One millisecond of tolerance: timers fire slightly early, and every interval is longer.
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

    /// Continues with `job`, which plays the same item from elsewhere or on another device.
    func keepOn(_ state: inout PipelineState, with job: DecodingJob?) {
        if let job, job.itemID == state.keeper.kept?.item.id { state.keeper.kept?.token = job.token }
    }

    // MARK: The player's side

    /// Sets the state that is stored now; positions refer to it from here on.
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
    /// Calls `body` with the current item and the seconds heard, at each multiple of `interval` (at least 10 ms) while
    /// playing and once at every jump.
    ///
    /// `body` runs on the position thread, which may wait for the disk. A notification costs no extra wakeup when the
    /// position is stored at the same time. Ends with ``endWatch(_:)``.
    package nonisolated func watchTime(
        forInterval interval: Duration,
        _ body: @escaping @Sendable (PlayerItem, Double) -> Void
    ) -> Int {
        pipeline.addWatch(every: max(interval.seconds, 0.01), body)
    }

    /// Ends a watch. Its `body` may be called once more.
    package nonisolated func endWatch(_ id: Int) { pipeline.removeWatch(id) }

    /// Starts the position thread if it is not running. If the system has no thread, the next start of playing retries.
    func startKeeperIfNeeded() {
        guard !hasKeeper else { return }
        hasKeeper = PositionKeeper.start(pipeline, journal) { [weak self] in
            guard let self else { return }
            Task { await self.positionNotKept() }
        }
    }

    /// Saves the whole state, which contains a position, so that the failure and the recovery are reported.
    private func positionNotKept() async {
        guard !isShuttingDown else { return }
        unsaved.state = true
        await commit()
    }
}
