import BackgrounderAPI
import FoundationEssentials
import Logging

/// What becomes of a transfer when an attempt has ended, and what is kept of it.
extension TransferSession {
    func finish(_ id: Int, _ end: AttemptEnd) async {
        guard let entry = entries[id] else { return }
        var record = end.record
        let intent = entry.intent
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
            await settle(record)
        case .stop:
            // What is stored says that it runs, and so it does after the next start.
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
                await settle(record)
            }
        }
    }

    func fail(_ record: TransferRecord, _ fault: TransferFault) async {
        var record = record
        record.transfer.error = "\(fault)"
        let limits = configuration.limits
        if case .permanent = fault {
            return await giveUp(record, .failed)
        }
        guard now().timeIntervalSince(record.detail.since) < limits.lifetime.seconds else {
            record.transfer.error = "it was not done within \(Durations.text(limits.lifetime)); at last: \(fault)"
            return await giveUp(record, .failed)
        }
        switch fault {
        case .disk:
            if entries[record.transfer.id]?.lacksRoom == false {
                entries[record.transfer.id]?.lacksRoom = true
                logger.warning(
                    "Transfer \(record.transfer.id) waits for room on the disk, \(record.transfer.destination.withoutControlCharacters): \("\(fault)".withoutControlCharacters)."
                )
            }
            await wait(record, for: .disk, limits.lookAgain)
        case .offline:
            await wait(record, for: .network, limits.retryMaximum)
        case .passing(_, let after):
            record.transfer.attempts += 1
            guard record.transfer.attempts < limits.attempts else {
                record.transfer.error = "\(limits.attempts) attempts brought nothing; at last: \(fault)"
                return await giveUp(record, .failed)
            }
            await wait(record, for: .backoff, max(after ?? .zero, backoff(record.transfer.attempts)))
        case .permanent: break
        }
    }

    /// Doubling, with full jitter: servers that come back are not stormed.
    func backoff(_ attempts: Int) -> Duration {
        let limits = configuration.limits
        let most = min(limits.retryMaximum, limits.firstRetry * (1 << min(20, max(0, attempts - 1))))
        return .seconds(Double.random(in: 0...most.seconds))
    }

    func wait(_ record: TransferRecord, for wait: TransferWait, _ delay: Duration) async {
        var record = record
        record.transfer.error = record.transfer.error?.withoutControlCharacters
        (record.transfer.state, record.transfer.waitingFor) = (.waiting, wait)
        record.detail.next = now().addingTimeInterval(delay.seconds)
        await settle(record)
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

    func due(_ id: Int) {
        guard isRunning, entries[id]?.runner == nil, entries[id]?.record.transfer.state == .waiting else { return }
        queue(id)
        schedule()
    }

    /// Ends a wait; it has its turn again. What is stored says that it waits, which is no loss.
    func queue(_ id: Int) {
        entries[id]?.timer?.cancel()
        entries[id]?.timer = nil
        entries[id]?.record.transfer.state = .queued
        entries[id]?.record.transfer.waitingFor = nil
        if let transfer = entries[id]?.record.transfer { onChange(transfer, false) }
    }

    // MARK: The journal

    /// Stores it for the attempt that runs.
    func keep(_ record: TransferRecord) async throws(TransferFault) {
        let id = record.transfer.id
        guard entries[id] != nil else { return }
        let isNew = entries[id]?.record.transfer.state != record.transfer.state
        entries[id]?.record = record
        do {
            try await journal.save(record, ended: nil)
        } catch {
            throw .disk("it cannot be stored: \(error)")
        }
        if isNew { onChange(record.transfer, false) }
    }

    func show(_ id: Int, received: Int64) {
        guard entries[id]?.runner != nil else { return }
        noteRoom(id)
        entries[id]?.record.transfer.received = received
        if let transfer = entries[id]?.record.transfer { onChange(transfer, true) }
    }

    /// Logs the end of a wait for the disk, when bytes are written again.
    private func noteRoom(_ id: Int) {
        guard let entry = entries[id], entry.lacksRoom else { return }
        entries[id]?.lacksRoom = false
        logger.info(
            "Transfer \(id) has room on the disk and continues: \(entry.record.transfer.destination.withoutControlCharacters)."
        )
    }

    /// Stores it while nothing runs. If that fails, the transfer's `error` says so, and a pause is stored later.
    func settle(_ record: TransferRecord) async {
        let id = record.transfer.id
        entries[id]?.record = record
        do {
            try await journal.save(record, ended: nil)
        } catch {
            logger.error("Transfer \(id) cannot be stored: \(error)")
            if record.transfer.state == .paused, entries[id]?.record.transfer.state == .paused {
                entries[id]?.record.transfer.error = Self.notStored("paused", error)
                storeLater(record)
            }
        }
        if let transfer = entries[id]?.record.transfer { onChange(transfer, false) }
    }

    /// Stores a pause again after a while.
    func storeLater(_ record: TransferRecord) {
        let id = record.transfer.id
        setTimer(id, configuration.limits.lookAgain) { session in
            guard session.entries[id]?.record.transfer.state == .paused else { return }
            await session.settle(record)
        }
    }

    private static func notStored(_ deed: String, _ error: any Error) -> String {
        "it is \(deed), but a restart will not know it: \(error)".withoutControlCharacters
    }

    /// Nothing happens to it after this.
    func over(_ record: TransferRecord, _ state: TransferState) async {
        var record = record
        (record.transfer.state, record.transfer.waitingFor, record.detail.next) = (state, nil, nil)
        let id = record.transfer.id
        entries[id]?.end = state
        do {
            try await journal.save(record, ended: now())
        } catch {
            // It is looked at again, when the disk may have room: what is done is then found done.
            logger.error("The end of transfer \(id) cannot be stored: \(error)")
            var waiting = record
            (waiting.transfer.state, waiting.transfer.waitingFor) = (.waiting, .disk)
            waiting.transfer.error = Self.notStored(state.rawValue, error)
            entries[id]?.record = waiting
            setTimer(id, configuration.limits.lookAgain) { [record] in await $0.over(record, state) }
            onChange(waiting.transfer, false)
            return
        }
        entries[id]?.timer?.cancel()
        entries[id] = nil
        let name = record.transfer.destination.withoutControlCharacters
        switch state {
        case .done: logger.info("Transfer \(id) is done: \(name).")
        case .failed: logger.warning("Transfer \(id) failed, \(name): \(record.transfer.error ?? "").")
        default: logger.info("Transfer \(id) was cancelled: \(name).")
        }
        onChange(record.transfer, false)
    }

    /// Ends it, and removes what is here of it.
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
