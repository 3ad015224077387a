import BackgrounderAPI
import FoundationEssentials
import Logging
import SystemSupport

extension LocationManager {
    /// Opens the source if updates are on and possible. The caller must hold the turn.
    func openSource() {
        guard phase == .running, state.updating, !isSuspended, run == nil else { return }
        if isFinished {
            connection = .finished
            return
        }
        runCount += 1
        monitor = QualityMonitor()
        do throws(SystemRefusal) {
            let control = try SourceControl(run: runCount) { [mailbox, executor] batch in
                executor.host { mailbox.send(batch) }
            }
            try read(control)
            run = Run(id: runCount, control: control)
        } catch {
            // The next start or resume retries.
            connection = .waiting
            monitor.disconnected(reason: systemMessage(error.code))
            logQuality()
        }
    }

    private func read(_ control: SourceControl) throws(SystemRefusal) {
        switch source {
        case .gpsd(let address):
            connection = .waiting
            try detachThread(named: "gpsd") { [recorder] in
                GPSDSource(address: address, control: control, recorder: recorder).run()
            }
        case .gpx(let path, let rate):
            let progress = continueReplay(path: path, rate: rate)
            try detachThread(named: "replay") {
                TrackReplay(path: path, rate: rate, skip: progress.received, start: progress.start, control: control)
                    .run()
            }
        case .gpsdLog(let path, let rate):
            let progress = continueReplay(path: path, rate: rate)
            try detachThread(named: "replay") {
                GPSDLogReplay(path: path, rate: rate, skip: progress.received, control: control).run()
            }
        }
    }

    /// Returns where to continue reading the file. A run that had ended starts from the beginning.
    private func continueReplay(path: String, rate: ReplayRate) -> ReplayProgress {
        connection = .replaying
        let continued = state.replay?.continued(rate: rate)
        // A log does not mark its beginning, and its receivers and clock belong to its own run.
        if continued == nil, case .gpsdLog = source { _ = state.filter.receive(.sourceChanged) }
        let progress = continued ?? ReplayProgress(path: path, rate: rate, start: Date())
        state.replay = progress
        return progress
    }

    /// Closes the source without waiting for its thread; later batches of it are ignored. The caller must hold the turn.
    func closeSource() {
        run?.control.stop()
        run = nil
        rest = nil
    }

    /// Receives batches from the sources until the mailbox is finished.
    func receiveAll() async {
        while let batch = await withCheckedContinuation({ mailbox.next($0) }) { await receive(batch) }
    }

    /// Filters all of `batch`, stores the result in one transaction, then publishes it.
    func receive(_ batch: SourceBatch) async {
        await turn.begin()
        defer { turn.end() }
        guard let run, run.id == batch.run else { return }
        let before = (monitor.quality, monitor.detail, connection)
        var next = state
        var accepted: [Location] = []
        var passed: [PassedFix] = []
        var received = 0
        for item in batch.items {
            guard case .report(let report) = item else {
                note(item, &next)
                continue
            }
            var location: Location?
            let decision = next.filter.receive(report, passed: &location)
            guard case .fix(let fix) = report, let decision else { continue }
            received += 1
            next.replay?.received += 1
            let instant = instant(of: fix)
            monitor.receive(decision, of: fix, next.filter.settings, at: instant)
            if let location, let instant {
                let arrival = source.isLive ? MonotonicTime.now : MonotonicTime(seconds: instant)
                passed.append(PassedFix(location: location, arrival: arrival))
            }
            switch decision {
            case .accepted(let location):
                next.counts.accepted += 1
                accepted.append(location)
            case .rejected(let rejection):
                next.counts.rejected[rejection.reason] += 1
                next.lastRejection = rejection
            }
        }
        if received > 0 || next.replay?.ending != state.replay?.ending {
            await commit(accepted, next, durable: false)
        } else {
            // Evidence alone is not worth a transaction; it is stored with the next fix.
            state = next
        }
        run.control.acknowledge()
        if let newest = accepted.last {
            beginRest()
            doubtDate(of: newest)
            onEvent(.locations(accepted, mayBlock: executor.isHosting))
        }
        if !passed.isEmpty { onEvent(.passed(passed)) }
        let after = (monitor.quality, monitor.detail, connection)
        if before.0 != after.0 { logQuality() }
        if before != after { onEvent(.changed) } else if received > accepted.count { onEvent(.counted) }
    }

    /// Stores `accepted` together with the points that waited, and makes `next` the state. A commit with points is always
    /// durable. The caller must hold the turn.
    func commit(_ accepted: [Location], _ next: LocationCheckpoint, durable: Bool) async {
        let points = unsaved + accepted
        // A trip contains exactly the stored points, so it receives them only when they are stored.
        var stored = next
        let trips = stored.recordTrips(of: points)
        let isLive = source.isLive
        do {
            try await withCheckedThrowingContinuation { (isStored: CheckedContinuation<Void, any Error>) in
                executor.runBlocking { [journal, stored] in
                    isStored.resume(
                        with: Result {
                            try journal.commit(
                                points,
                                isLive: isLive,
                                trips: trips,
                                checkpoint: stored,
                                durable: durable || !points.isEmpty
                            )
                        }
                    )
                }
            }
            state = stored
            if failingSince != nil {
                logger.notice(
                    """
                    Storing the location history again: \(points.count) points were waiting, \
                    \(stored.counts.dropped) were dropped so far
                    """
                )
            }
            failingSince = nil
            unsaved = []
        } catch {
            if failingSince == nil {
                failingSince = elapsed()
                logger.error(
                    "Cannot store the location history; up to \(Self.unsavedLimit) points wait in memory: \(error)"
                )
            }
            unsaved = points.suffix(Self.unsavedLimit)
            state = next
            state.counts.dropped += points.count - unsaved.count
        }
        for location in accepted { track.append(location) }
    }

    /// Returns the time of `fix` by the source's own clock, in seconds: a replayed minute counts as a minute at any rate.
    private func instant(of fix: Fix) -> Double? {
        switch source {
        case .gpsd: elapsed()
        case .gpsdLog: fix.arrival
        case .gpx: fix.time?.timeIntervalSince1970
        }
    }

    private func note(_ item: SourceItem, _ next: inout LocationCheckpoint) {
        switch item {
        case .report: break
        case .connected:
            connection = .connected
            monitor.connected()
        case .disconnected(let reason):
            connection = .waiting
            monitor.disconnected(reason: reason)
        case .silent: monitor.silent()
        case .left:
            connection = .waiting
            logFirstRest()
        case .returning:
            // A rest that was extended meanwhile continues: the source leaves again.
            if let rest, rest.deadline <= MonotonicTime.now.seconds { self.rest = nil }
        case .noDevice(let reason): monitor.noDevice(reason: reason)
        case .devicePresent: monitor.devicePresent()
        case .skippedLines(let count):
            if skippedLines == 0 {
                logger.warning("gpsd sent a line of more than \(LineFramer.lineLimit) bytes; skipping such lines")
            }
            skippedLines = count
        case .oddLines(let lines): logger.warning("\(lines)")
        case .finished(let fault):
            connection = .finished
            isFinished = true
            let isEmpty = next.replay?.received == 0
            next.replay?.end(.finished)
            if let reason = fault?.description ?? (isEmpty ? source.emptiness : nil) {
                monitor.damaged(reason)
                logger.error("\(reason)")
            }
        }
    }

    func logQuality() {
        let detail = monitor.detail.map { " (\($0))" } ?? ""
        let isBad = monitor.quality != .ok && monitor.quality != .searching
        logger.log(level: isBad ? .warning : .info, "Location of \(source) is \(monitor.quality.rawValue)\(detail)")
    }
}

extension LocationCheckpoint {
    /// Adds `points` to the trips and returns the trips that changed.
    fileprivate mutating func recordTrips(of points: [Location]) -> [TripRecord] {
        guard !points.isEmpty else { return [] }
        var recorder = trips ?? TripRecorder()
        trips = nil
        for point in points { recorder.receive(point) }
        defer { trips = recorder }
        return recorder.takeChanges()
    }
}

extension ReplayProgress {
    /// Returns this run, to be continued at `rate`; `nil` if it had ended.
    fileprivate func continued(rate: ReplayRate) -> ReplayProgress? {
        guard ending == nil else { return nil }
        var next = self
        next.rate = rate
        return next
    }
}
