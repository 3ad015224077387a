import BackgrounderAPI
import FoundationEssentials
import Logging
import SystemSupport

// The end of attempts and transfers, and their persistence.
extension TransferSession {
    /// Handles the end of an attempt.
    func finish(_ id: Int, _ end: AttemptEnd) async {
        guard let entry = entries[id] else { return }
        var record = end.record
        let intent = entry.intent
        count(id, received: record.transfer.received)
        entries[id]?.runner = nil
        entries[id]?.intent = nil
        defer { schedule() }
        if end.fault == nil, end.obstacle == nil, !end.isCancelled {
            record.transfer.error = nil
            await over(record, .done)
            return
        }
        switch intent {
        case .cancel:
            await giveUp(record, .cancelled)
        case .pause:
            record.transfer.state = .paused
            await saveIdle(record)
        case .stop:
            // It is stored as running, so it continues after the next start.
            try? await journal.save(record, ended: nil)
        case .hold, nil:
            if let obstacle = end.obstacle {
                if obstacle == .limiter { entries[id]?.busyLooks += 1 }
                await wait(
                    record,
                    for: obstacle,
                    obstacle == .limiter ? configuration.limits.busyTime : configuration.limits.lookAgain
                )
            } else if let fault = end.fault {
                await fail(record, fault)
            } else {
                record.transfer.state = .queued
                await saveIdle(record)
            }
        }
    }

    /// Schedules another attempt after a fault, or ends the transfer.
    func fail(_ record: TransferRecord, _ fault: TransferFault) async {
        var record = record
        record.transfer.error = "\(fault)"
        let limits = configuration.limits
        if case .permanent = fault {
            return await giveUp(record, .failed)
        }
        guard now().timeIntervalSince(record.detail.since) < limits.lifetime.seconds else {
            record.transfer.error = "not finished within \(Durations.text(limits.lifetime)); last error: \(fault)"
            return await giveUp(record, .failed)
        }
        switch fault {
        case .disk:
            if entries[record.transfer.id]?.lacksRoom == false {
                entries[record.transfer.id]?.lacksRoom = true
                logger.warning(
                    "Transfer \(record.transfer.id): waiting for disk space, \(record.transfer.destination.withoutControlCharacters): \("\(fault)".withoutControlCharacters)"
                )
            }
            await wait(record, for: .disk, limits.lookAgain)
        case .offline:
            await wait(record, for: .network, limits.retryMaximum)
        case .passing(_, let after):
            record.transfer.attempts += 1
            guard record.transfer.attempts < limits.attempts else {
                record.transfer.error = "no new data in \(limits.attempts) attempts; last error: \(fault)"
                return await giveUp(record, .failed)
            }
            await wait(record, for: .backoff, max(after ?? .zero, backoff(record.transfer.attempts)))
        case .permanent: break
        }
    }

    /// Returns the delay before the next attempt: exponential with full jitter, so that clients do not all return at
    /// the same time.
    func backoff(_ attempts: Int) -> Duration {
        let limits = configuration.limits
        let most = min(limits.retryMaximum, limits.firstRetry * (1 << min(20, max(0, attempts - 1))))
        return .seconds(Double.random(in: 0...most.seconds))
    }

    /// Makes the transfer wait for `wait`, at most for `delay`.
    func wait(_ record: TransferRecord, for wait: TransferWait, _ delay: Duration) async {
        var record = record
        record.transfer.error = record.transfer.error?.withoutControlCharacters
        (record.transfer.state, record.transfer.waitingFor) = (.waiting, wait)
        record.detail.next = now().addingTimeInterval(delay.seconds)
        await saveIdle(record)
        arm(record.transfer.id, after: delay)
    }

    /// Ends the transfer's wait after `delay`.
    func arm(_ id: Int, after delay: Duration) {
        setTimer(id, delay) { $0.due(id) }
    }

    /// Runs `body` after `delay`, unless the transfer's timer is set or cancelled before.
    private func setTimer(
        _ id: Int,
        _ delay: Duration,
        _ body: @escaping @Sendable (isolated TransferSession) async -> Void
    ) {
        entries[id]?.timer?.cancel()
        entries[id]?.timer = Task { [clock] in
            guard (try? await clock.sleep(for: delay)) != nil, !Task.isCancelled else { return }
            await body(self)
        }
    }

    /// Handles the end of a wait by its timer.
    func due(_ id: Int) {
        guard isRunning, entries[id]?.runner == nil, entries[id]?.record.transfer.state == .waiting else { return }
        queue(id)
        schedule()
    }

    /// Ends a wait and queues the transfer. This is not saved: at worst, a restart resumes the wait.
    func queue(_ id: Int) {
        entries[id]?.timer?.cancel()
        entries[id]?.timer = nil
        entries[id]?.record.transfer.state = .queued
        entries[id]?.record.transfer.waitingFor = nil
        tell(id)
    }

    /// Reports a change of an open transfer.
    func tell(_ id: Int, isProgress: Bool = false) {
        if let entry = entries[id] { onChange(entry.transfer(at: elapsed()), isProgress) }
    }

    // MARK: The journal

    /// Saves the record of a running attempt.
    func saveRunning(_ record: TransferRecord) async throws(TransferFault) {
        let id = record.transfer.id
        guard entries[id] != nil else { return }
        let isNew = entries[id]?.record.transfer.state != record.transfer.state
        count(id, received: record.transfer.received)
        entries[id]?.record = record
        do {
            try await journal.save(record, ended: nil)
        } catch {
            throw .disk("cannot save the transfer: \(error)")
        }
        if isNew { tell(id) }
    }

    /// Reports the progress of a running attempt, without saving it.
    func show(_ id: Int, received: Int64) {
        guard entries[id]?.runner != nil else { return }
        noteRoom(id)
        count(id, received: received)
        entries[id]?.record.transfer.received = received
        entries[id]?.rate?.note(received, at: elapsed())
        tell(id, isProgress: true)
    }

    /// Counts the bytes of a running attempt that have moved since it last told their number.
    private func count(_ id: Int, received: Int64) {
        guard let transfer = entries[id]?.record.transfer, received > transfer.received else { return }
        transferredBytes[transfer.direction, default: 0] += received - transfer.received
    }

    /// Logs the end of a wait for disk space, when bytes are written again.
    private func noteRoom(_ id: Int) {
        guard let entry = entries[id], entry.lacksRoom else { return }
        entries[id]?.lacksRoom = false
        logger.info(
            "Transfer \(id): the disk has space again, \(entry.record.transfer.destination.withoutControlCharacters)"
        )
    }

    /// Saves the record of a transfer without a running attempt. A pause that cannot be saved is saved later, and
    /// `error` says so.
    func saveIdle(_ record: TransferRecord) async {
        let id = record.transfer.id
        entries[id]?.record = record
        do {
            try await journal.save(record, ended: nil)
        } catch {
            logger.error("Transfer \(id): cannot save its state: \(error)")
            if record.transfer.state == .paused, entries[id]?.record.transfer.state == .paused {
                entries[id]?.record.transfer.error = Self.notStored("paused", error)
                storeLater(record)
            }
        }
        tell(id)
    }

    /// Retries after a while to save a pause.
    func storeLater(_ record: TransferRecord) {
        let id = record.transfer.id
        setTimer(id, configuration.limits.lookAgain) { session in
            guard session.entries[id]?.record.transfer.state == .paused else { return }
            await session.saveIdle(record)
        }
    }

    private static func notStored(_ deed: String, _ error: any Error) -> String {
        "\(deed), but a restart will lose this: \(error)".withoutControlCharacters
    }

    /// Ends the transfer in `state` and saves its end; retries if that fails.
    func over(_ record: TransferRecord, _ state: TransferState) async {
        var record = record
        (record.transfer.state, record.transfer.waitingFor, record.detail.next) = (state, nil, nil)
        let id = record.transfer.id
        entries[id]?.end = state
        do {
            try await journal.save(record, ended: now())
        } catch {
            // Retry when the disk may have space. After a restart, a finished download is recognised as finished.
            logger.error("Transfer \(id): cannot save its end: \(error); retrying")
            var waiting = record
            (waiting.transfer.state, waiting.transfer.waitingFor) = (.waiting, .disk)
            waiting.transfer.error = Self.notStored(state.rawValue, error)
            entries[id]?.record = waiting
            setTimer(id, configuration.limits.lookAgain) { [record] in await $0.over(record, state) }
            tell(id)
            return
        }
        entries[id]?.timer?.cancel()
        entries[id] = nil
        let name = record.transfer.destination.withoutControlCharacters
        switch state {
        case .done: logger.info("Transfer \(id): done, \(name)")
        case .failed: logger.warning("Transfer \(id): failed, \(name): \(record.transfer.error ?? "")")
        default: logger.info("Transfer \(id): cancelled, \(name)")
        }
        onChange(record.transfer, false)
    }

    /// Ends the transfer in `state` and removes its part file.
    func giveUp(_ record: TransferRecord, _ state: TransferState) async {
        var record = record
        record.transfer.error = record.transfer.error?.withoutControlCharacters
        entries[record.transfer.id]?.end = state
        await discard(record)
        await over(record, state)
    }

    private func discard(_ record: TransferRecord) async {
        guard record.transfer.direction == .get, let part = record.detail.part else { return }
        await PartFile(record, configuration: configuration, executor: checker).discard(part)
    }
}
