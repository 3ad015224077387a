import BackgrounderAPI
import Logging
import MediaFiles

/// Keeps the queue, the decoder and the output in sync.
extension QueuePlayer {
    /// Plays `item` from `seconds` on, or prepares it while nothing plays.
    func start(_ item: PlayerItem, at seconds: Double) {
        activity.revokeEnding()
        faults.retry(item.id)
        position = seconds
        let job = makeJob(item, at: seconds)
        chain = [job]
        jumped()
        pipeline.restart(with: job)
        plan()
        applyActivity()
    }

    /// Runs or rests the output, according to the activity. Pauses if the output is disabled.
    func applyActivity() {
        if activity.playback == .playing, !list.options.outputEnabled {
            activity.playback = .paused
            stateChanged()
            jumped()
        }
        if activity.isSounding {
            startThreadsIfNeeded()
            watchOutput()
        }
        pipeline.setPlaying(activity.isSounding)
    }

    private func makeJob(_ item: PlayerItem, at seconds: Double) -> DecodingJob {
        nextToken += 1
        return DecodingJob(token: nextToken, itemID: item.id, path: item.path, start: seconds)
    }

    /// Brings the decoder's jobs in line with the queue.
    ///
    /// Advances a copy of the queue item by item. At the first difference, the decoder's job and all after it are
    /// withdrawn.
    func plan() {
        guard !chain.isEmpty else { return }
        var ahead = list
        for index in 1... {
            let next = playable(ahead.finishCurrent(), in: &ahead)
            guard case .play(let id) = next, let item = ahead.item(id) else {
                if index < chain.count, !withdraw(from: index) { return }
                pipeline.setLast(true)
                return
            }
            if index < chain.count, chain[index].itemID == id { continue }
            if index < chain.count, !withdraw(from: index) { return }
            let job = makeJob(item, at: 0)
            guard pipeline.offer(job) else {
                pipeline.setLast(false)
                return
            }
            chain.append(job)
        }
    }

    /// Withdraws the jobs from `index` on. Returns false if it is too late: then the current item continues from the heard
    /// position, and the rest is planned again.
    private func withdraw(from index: Int) -> Bool {
        if pipeline.withdraw(from: chain[index].token) {
            chain.removeSubrange(index...)
            return true
        }
        if let current = list.current { start(current, at: elapsed ?? 0) }
        return false
    }

    /// Skips items that cannot be played, at most once around the queue.
    func playable(_ outcome: PlayerQueue.Outcome, in list: inout PlayerQueue) -> PlayerQueue.Outcome {
        var outcome = outcome
        for _ in 0..<list.count {
            switch outcome {
            case .play(let id) where faults.isUnplayable(id): outcome = list.skipUnplayable()
            default: return outcome
            }
        }
        if case .play(let id) = outcome, faults.isUnplayable(id) {
            list.deselect()
            return .stop
        }
        return outcome
    }

    /// Handles the reports of decoder and output. Runs before every command.
    func handleReports() {
        let isClosed = pipeline.takeClosed()
        if activity.isShutDown {
            // The stored state is final; only the waits for the device remain.
            if isClosed { closeWaiters.resumeAll() }
            return
        }
        var snapshot = pipeline.snapshot()
        // Handle failures from before the snapshot first, or their items would count as played. The bound keeps a queue of
        // nothing but failures from delaying the next command.
        for _ in 0..<8 {
            let reports = pipeline.takeDecoderReports()
            guard !reports.isEmpty else { break }
            for report in reports { handle(report) }
            snapshot = pipeline.snapshot()
        }
        follow(snapshot.token)
        followStream(snapshot)
        handleAnnouncements()
        handleOutput(snapshot)
        if isClosed { deviceClosed() }
        if snapshot.isDrained, activity.playback == .playing, !chain.isEmpty { reachedEnd() }
        plan()
    }

    /// Advances the queue to the item that is heard.
    private func follow(_ token: Int) {
        guard let heard = chain.firstIndex(where: { $0.token == token }) else { return }
        for _ in 0..<heard {
            let before = list.version
            _ = playable(list.finishCurrent(), in: &list)
            chain.removeFirst()
            if let id = chain.first?.itemID, id != list.currentID { try? list.select(id: id) }
            if list.version != before { queueChanged() }
            currentChanged()
            jumped()
        }
    }

    private func handle(_ report: DecoderReport) {
        switch report {
        case .faulty(let job, let fault):
            guard faults.report(job.itemID) else { return }
            note(path: job.path, fault.reason)
            logger.warning("\(printable(job.path)): \(printable(fault.reason))")
        case .described(let job, let metadata, let live): describeStream(job, metadata, live)
        case .failed(let job, let reason): skip(job, because: reason)
        }
    }

    /// Reports and skips an item that cannot be played.
    func skip(_ job: DecodingJob, because reason: String) {
        guard let index = chain.firstIndex(where: { $0.token == job.token }) else { return }
        note(path: job.path, reason)
        logger.warning("\(printable(job.path)): \(printable(reason)); skipped")
        faults.skip(job.itemID, because: reason)
        if index > 0 {
            chain.remove(at: index)
        } else {
            skipCurrent()
        }
    }

    /// Skips a current item that cannot be played, to the next one that can.
    private func skipCurrent() {
        let outcome = playable(list.skipUnplayable(), in: &list)
        chain.removeFirst()
        if case .play(let id) = outcome, let item = list.item(id) {
            if chain.first?.itemID != id { start(item, at: 0) }
        } else {
            if (0..<list.count).allSatisfy({ faults.isUnplayable(list.id(at: $0)) }) {
                note(
                    path: lastError?.path,
                    "Nothing in the queue can be played; \(lastError?.reason ?? "it was skipped")"
                )
                logger.error("Nothing in the queue can be played")
            }
            finish(.queue)
        }
        currentChanged()
    }

    /// Called when everything planned has been handed to the device.
    private func reachedEnd() {
        var ahead = list
        switch playable(ahead.finishCurrent(), in: &ahead) {
        case .stop:
            finish(.queue)
        case .stay:
            activity.playback = .paused
            position = elapsed ?? 0
            chain = []
            stateChanged()
            applyActivity()
        case .pause:
            list = ahead
            activity.playback = .paused
            position = 0
            chain = []
            queueChanged()
            currentChanged()
            jumped()
            applyActivity()
        case .play:
            // Items were added after the decoder had reached the end.
            break
        }
    }

    /// Stops, and closes the device. With a file device, the status changes when the file is complete, else immediately.
    func finish(_ ending: Activity.Ending) {
        if ending == .command { pipeline.restart(with: nil) }
        let device = pipeline.snapshot().device
        pipeline.setPlaying(ending == .queue && device != nil)
        pipeline.requestClose()
        guard pipeline.hasOutputThread, ending == .queue || device?.kind == .file else {
            stopped(ending)
            return
        }
        activity.end(ending)
        watchOutput()
    }

    private func deviceClosed() {
        if let ending = activity.ending { stopped(ending) }
        closeWaiters.resumeAll()
    }

    func stopped(_ reason: Activity.Ending) {
        activity.revokeEnding()
        if reason == .queue, list.currentID != nil {
            let before = list.version
            if case .play(let id) = playable(list.finishCurrent(), in: &list), let item = list.item(id) {
                // Items were added while the device was being closed.
                if list.version != before { queueChanged() }
                currentChanged()
                start(item, at: 0)
                return
            }
            list.deselect()
            if list.version != before { queueChanged() }
            currentChanged()
        }
        activity.playback = .stopped
        if recovery.isWaiting { endOutage() }
        chain = []
        position = 0
        pipeline.setPlaying(false)
        pipeline.restart(with: nil)
        stateChanged()
    }

    /// Waits until the device is closed, for at most `limit`.
    func closing(within limit: Duration) async {
        let id = closeWaiters.nextID()
        let clock = clock
        let timeout = Task {
            try? await clock.sleep(for: limit)
            closeWaiters.resume(id)
        }
        await withCheckedContinuation { continuation in
            closeWaiters.add(continuation, as: id)
            // It may have been closed before the wait began.
            handleReports()
        }
        timeout.cancel()
    }
}

/// The commands that wait until the device is closed.
struct CloseWaiters {
    private var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastID = 0

    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    mutating func add(_ waiter: CheckedContinuation<Void, Never>, as id: Int) { waiters[id] = waiter }

    /// Ends the wait of one command, unless it has ended.
    mutating func resume(_ id: Int) { waiters.removeValue(forKey: id)?.resume() }

    /// Ends the wait of all commands.
    mutating func resumeAll() {
        for waiter in waiters.values { waiter.resume() }
        waiters = [:]
    }
}
