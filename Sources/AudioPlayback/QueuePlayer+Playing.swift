import BackgrounderAPI
import Logging

/// How the queue, the decoder and the output are kept together.
extension QueuePlayer {
    /// Plays `item` from `seconds` on, or gets it ready where it does not play.
    func start(_ item: PlayerItem, at seconds: Double) {
        ending = nil
        unplayable[item.id] = nil
        position = seconds
        let job = makeJob(item, at: seconds)
        chain = [job]
        jumped()
        pipeline.restart(with: job)
        plan()
        applyIntent()
    }

    /// Lets the output run or rest, as what was asked for says.
    func applyIntent() {
        let plays = intent == .playing && !isSuspended
        if plays {
            startThreadsIfNeeded()
            watchOutput()
        }
        pipeline.setPlaying(plays)
    }

    private func makeJob(_ item: PlayerItem, at seconds: Double) -> DecodingJob {
        nextToken += 1
        return DecodingJob(token: nextToken, itemID: item.id, path: item.path, start: seconds)
    }

    /// Brings what the decoder was given in line with what the queue says now.
    ///
    /// The queue is a value: a copy of it is asked what follows, again and again, and where the decoder has another
    /// item in that place, this one and all behind it are taken back.
    func plan() {
        guard !chain.isEmpty else { return }
        var ahead = list
        for index in 1... {
            let next = playable(ahead.finishCurrent(), in: &ahead)
            guard case .play(let id) = next, let item = ahead.item(id) else {
                if index < chain.count, !takeBack(from: index) { return }
                pipeline.setLast(true)
                return
            }
            if index < chain.count, chain[index].itemID == id { continue }
            if index < chain.count, !takeBack(from: index) { return }
            let job = makeJob(item, at: 0)
            guard pipeline.offer(job) else {
                pipeline.setLast(false)
                return
            }
            chain.append(job)
        }
    }

    /// False when it was too late: then the current item goes on from where it was heard, and what follows is planned
    /// anew.
    private func takeBack(from index: Int) -> Bool {
        if pipeline.drop(from: chain[index].token) {
            chain.removeSubrange(index...)
            return true
        }
        if let current = list.current { start(current, at: elapsed ?? 0) }
        return false
    }

    /// Passes over items that cannot be played; once round the queue is enough.
    func playable(_ outcome: PlayerQueue.Outcome, in list: inout PlayerQueue) -> PlayerQueue.Outcome {
        var outcome = outcome
        for _ in 0..<list.count {
            switch outcome {
            case .play(let id) where unplayable[id] != nil: outcome = list.skipUnplayable()
            default: return outcome
            }
        }
        if case .play(let id) = outcome, unplayable[id] != nil {
            list.deselect()
            return .stop
        }
        return outcome
    }

    /// Takes in what decoder and output have done since the last look. It comes before every command.
    func settle() {
        let isClosed = pipeline.takeClosed()
        var snapshot = pipeline.snapshot()
        // What failed before the moment of the snapshot is known before the queue follows it, or it would count as played. A queue
        // of nothing else does not hold up the next command.
        for _ in 0..<8 {
            let reports = pipeline.takeDecoderReports()
            guard !reports.isEmpty else { break }
            for report in reports { take(report) }
            snapshot = pipeline.snapshot()
        }
        follow(snapshot.token)
        settleAnnouncements()
        settleOutput(snapshot)
        if isClosed { deviceClosed() }
        if snapshot.isDrained, ending == nil, intent == .playing, !chain.isEmpty { reachedEnd() }
        plan()
    }

    /// Moves the queue on to the item that is heard.
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

    private func take(_ report: DecoderReport) {
        switch report {
        case .faulty(let job, let fault):
            guard reportedFaults.insert(job.itemID).inserted else { return }
            note(path: job.path, fault.reason)
            logger.warning("\(printable(job.path)): \(fault.reason)")
        case .failed(let job, let reason):
            guard let index = chain.firstIndex(where: { $0.token == job.token }) else { return }
            note(path: job.path, reason)
            logger.warning("\(printable(job.path)): \(reason); skipped")
            unplayable[job.itemID] = reason
            if index > 0 {
                chain.remove(at: index)
            } else {
                skipCurrent()
            }
        }
    }

    /// The current item cannot be played: the next one that can does.
    private func skipCurrent() {
        let outcome = playable(list.skipUnplayable(), in: &list)
        chain.removeFirst()
        if case .play(let id) = outcome, let item = list.item(id) {
            if chain.first?.itemID != id { start(item, at: 0) }
        } else {
            if (0..<list.count).allSatisfy({ unplayable[list.id(at: $0)] != nil }) {
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

    /// All that was planned has been given to the device.
    private func reachedEnd() {
        var ahead = list
        switch playable(ahead.finishCurrent(), in: &ahead) {
        case .stop:
            finish(.queue)
        case .stay:
            intent = .paused
            position = elapsed ?? 0
            chain = []
            stateChanged()
            applyIntent()
        case .pause:
            list = ahead
            intent = .paused
            position = 0
            chain = []
            queueChanged()
            currentChanged()
            jumped()
            applyIntent()
        case .play:
            // Something was added after the decoder had come to the end.
            break
        }
    }

    /// Stops, and closes the device. The status says so when a file is whole, else at once.
    func finish(_ ending: Ending) {
        if ending == .command { pipeline.restart(with: nil) }
        let device = pipeline.snapshot().device
        pipeline.setPlaying(ending == .queue && device != nil)
        pipeline.requestClose()
        guard hasOutputThread, ending == .queue || device?.kind == .file else {
            stopped(ending)
            return
        }
        self.ending = ending
        watchOutput()
    }

    private func deviceClosed() {
        if let ending { stopped(ending) }
        for waiter in closeWaiters.values { waiter.resume() }
        closeWaiters = [:]
    }

    func stopped(_ reason: Ending) {
        ending = nil
        if reason == .queue, list.currentID != nil {
            let before = list.version
            if case .play(let id) = playable(list.finishCurrent(), in: &list), let item = list.item(id) {
                // Something was added while the device was being closed.
                if list.version != before { queueChanged() }
                currentChanged()
                start(item, at: 0)
                return
            }
            list.deselect()
            if list.version != before { queueChanged() }
            currentChanged()
        }
        intent = .stopped
        outage = nil
        chain = []
        position = 0
        pipeline.setPlaying(false)
        pipeline.restart(with: nil)
        stateChanged()
    }

    /// Waits until the device is closed, or until the time is over.
    func closing(within limit: Duration) async {
        nextToken += 1
        let waiter = nextToken
        let clock = clock
        let timeout = Task {
            try? await clock.sleep(for: limit)
            closeWaiters.removeValue(forKey: waiter)?.resume()
        }
        await withCheckedContinuation { continuation in
            closeWaiters[waiter] = continuation
            // It may have been closed before anybody waited.
            settle()
        }
        timeout.cancel()
    }
}

/// Text from outside as it may stand in a log.
func printable(_ text: String) -> String { Metadata.line(text) ?? "" }
