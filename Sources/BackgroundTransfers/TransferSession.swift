package import BackgrounderAPI
package import FoundationEssentials
package import Logging
package import NIOCore
import ServiceLifecycle
import SystemSupport
import WebSupport

/// The service that runs the transfers of all sessions: it starts attempts, waits, retries, and records how transfers
/// end.
///
/// A session is a name that groups transfers and their events. State that a restart must restore is in the journal
/// before it is acted on. A shutdown leaves the transfers as they are, and they continue after the next start.
///
///     let session = TransferSession(configuration: …, records: …, journal: …)
///     let transfer = try await session.add(TransferRequest(url: "https://…", destination: "/srv/downloads/map.bin"))
package actor TransferSession: Service {
    /// A transfer that has not ended, with its state in this process.
    struct Entry {
        var record: TransferRecord
        /// The running attempt.
        var runner: Task<Void, Never>?
        /// Ends a wait, or saves the record again.
        var timer: Task<Void, Never>?
        /// The command to apply after the running attempt has ended.
        var intent: Intent?
        /// Whether the previous attempt was ended by the end of the process.
        var isExcused = false
        /// Whether the log says that it waits for disk space, and not yet that there is space again.
        var lacksRoom = false
        /// The speed of the running attempt.
        var rate: TransferRate?
        /// How often it was held back because the machine was busy.
        var busyLooks = 0
        /// The final state, set as soon as it is decided and until it is saved. Commands no longer apply then.
        var end: TransferState?

        /// The host of the URL; empty if the URL is invalid.
        let host: String

        init(_ record: TransferRecord) {
            self.record = record
            host = (try? WebURL(record.detail.url))?.origin.host ?? ""
        }

        /// Returns the transfer as clients see it.
        ///
        /// - Parameter time: the time since the creation of the session.
        func transfer(at time: Duration) -> Transfer {
            var transfer = record.transfer
            switch transfer.state {
            case .waiting: transfer.next = record.detail.next
            case .running:
                transfer.rate = rate?.bytesPerSecond(at: time)
                if let rate = transfer.rate, rate > 0, let total = transfer.total, total >= transfer.received {
                    transfer.remaining = Double(total - transfer.received) / rate
                }
            case .queued, .verifying, .moving, .paused, .done, .failed, .cancelled: break
            }
            return transfer
        }

        /// Whether it waits only for its turn.
        var isReady: Bool { runner == nil && end == nil && record.transfer.state == .queued }
        /// Whether a new network route may end its wait.
        var waitsForWay: Bool {
            record.transfer.state == .waiting
                && (record.transfer.waitingFor == .network || record.transfer.waitingFor == .backoff)
        }
    }

    /// Why a running attempt is cancelled.
    enum Intent {
        case pause, cancel
        /// The service is shutting down.
        case stop
        /// The host no longer permits discretionary transfers.
        case hold
    }

    private(set) var configuration: TransferConfiguration
    let journal: any TransferJournal
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    private let group: any EventLoopGroup
    let conditions: any HostConditions
    let logger: Logger
    let onChange: @Sendable (Transfer, _ isProgress: Bool) -> Void
    private let boot: String
    /// The time since the creation of this object.
    let elapsed: @Sendable () -> Duration
    /// Executors for reuse; each running attempt has one of its own.
    private var idleExecutors: [QueueExecutor] = []
    /// The executor for checks of the disk and the host.
    let checker = QueueExecutor("backgrounder.transfers")

    /// The transfers that have not ended, by id.
    var entries: [Int: Entry] = [:]
    /// The sessions that the configuration declares, by name.
    var declared: [String: SessionDefinition] = [:]
    /// The bytes that have moved since the creation of this object.
    package internal(set) var transferredBytes: [TransferDirection: Int64] = [:]
    var isRunning = false
    var watch: HostWatch?
    /// The changes that ``watch`` reports.
    let hostChanges = AsyncStream.makeStream(of: HostChange.self)

    /// Creates a session with the open transfers of the journal. They run after ``run()`` is called.
    ///
    /// - Parameters:
    ///   - records: the open transfers in the journal.
    ///   - boot: identifies this boot of the machine.
    ///   - onChange: called on the actor's executor after each change; for mere progress, about four times a second.
    package init(
        configuration: TransferConfiguration,
        records: [TransferRecord],
        journal: any TransferJournal,
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date = { Date() },
        group: any EventLoopGroup,
        conditions: any HostConditions = LinuxConditions(),
        boot: String = currentBootID() ?? UUID().uuidString,
        logger: Logger,
        onChange: @escaping @Sendable (Transfer, _ isProgress: Bool) -> Void
    ) {
        (self.configuration, self.journal, self.clock, self.now) = (configuration, journal, clock, now)
        (self.group, self.conditions, self.boot) = (group, conditions, boot)
        (self.logger, self.onChange) = (logger, onChange)
        elapsed = clock.stopwatch()
        for var record in records {
            var isExcused = false
            let lacksRoom = record.transfer.waitingFor == .disk
            switch record.transfer.state {
            case .running, .verifying, .moving, .queued: (record.transfer.state, isExcused) = (.queued, true)
            case .waiting where record.transfer.waitingFor != .backoff: record.transfer.state = .queued
            case .waiting, .paused, .done, .failed, .cancelled: break
            }
            if record.transfer.state != .waiting { record.transfer.waitingFor = nil }
            entries[record.transfer.id] = Entry(record)
            entries[record.transfer.id]?.isExcused = isExcused
            entries[record.transfer.id]?.lacksRoom = lacksRoom
        }
    }

    /// Replaces the configuration for new transfers and attempts. What runs continues under the previous one.
    package func use(_ configuration: TransferConfiguration) { self.configuration = configuration }

    /// Runs the transfers until graceful shutdown, then stops the attempts and waits for them.
    package func run() async throws {
        isRunning = true
        for (id, entry) in entries where entry.record.transfer.state == .waiting {
            let left = entry.record.detail.next.map { max(0, $0.timeIntervalSince(now())) } ?? 0
            // Bounded, because the clock may have been set back.
            arm(id, after: min(.seconds(left), RetryAfter.most))
        }
        schedule()
        await withGracefulShutdownHandler {
            for await change in hostChanges.stream where !Task.isShuttingDownGracefully {
                switch change {
                case .routes: await routesChanged()
                case .power: await hostChanged()
                }
            }
        } onGracefulShutdown: { [hostChanges] in
            hostChanges.continuation.finish()
        }
        isRunning = false
        watch = nil
        for id in entries.keys { entries[id]?.timer?.cancel() }
        let runners = entries.values.compactMap(\.runner)
        for id in entries.keys where entries[id]?.runner != nil && entries[id]?.intent == nil {
            entries[id]?.intent = .stop
        }
        for runner in runners { runner.cancel() }
        for runner in runners { await runner.value }
    }

    /// The transfers that have not ended, sorted by id.
    package var open: [Transfer] {
        let time = elapsed()
        return entries.values.map { $0.transfer(at: time) }.sorted { $0.id < $1.id }
    }

    /// Whether an attempt is running.
    package var isAtWork: Bool { entries.values.contains { $0.runner != nil } }

    // MARK: Turns

    /// Starts attempts up to the limits: urgent transfers first, then by age.
    func schedule() {
        guard isRunning else { return }
        defer { watchHost() }
        let limits = configuration.limits
        var hosts: [String: Int] = [:]
        var running = 0
        for entry in entries.values where entry.runner != nil {
            running += 1
            hosts[entry.host, default: 0] += 1
        }
        let ready = entries.values.filter(\.isReady)
            .sorted { first, second in
                let (first, second) = (first.record.transfer, second.record.transfer)
                return first.discretionary == second.discretionary
                    ? first.id < second.id : second.discretionary
            }
        for entry in ready {
            guard running < limits.running else { return }
            guard hosts[entry.host, default: 0] < limits.runningPerHost else { continue }
            running += 1
            hosts[entry.host, default: 0] += 1
            start(entry.record.transfer.id)
        }
    }

    /// Starts an attempt.
    private func start(_ id: Int) {
        guard let entry = entries[id] else { return }
        let executor = idleExecutors.popLast() ?? QueueExecutor("backgrounder.transfer")
        let context = AttemptContext(
            configuration: configuration,
            group: group,
            clock: clock,
            now: now,
            boot: boot,
            isExcused: entry.isExcused,
            executor: executor,
            store: { record throws(TransferFault) in try await self.saveRunning(record) },
            show: { received in await self.show(id, received: received) }
        )
        let record = entry.record
        let mayStartWhileBusy = entry.busyLooks >= configuration.limits.busyLooks
        entries[id]?.isExcused = false
        entries[id]?.rate = TransferRate(bytes: record.transfer.received, at: elapsed())
        entries[id]?.record.detail.next = nil
        entries[id]?.runner = Task {
            let end = await attempt(record, context, mayStartWhileBusy: mayStartWhileBusy)
            await finish(id, end)
            idleExecutors.append(executor)
        }
    }

    /// The result of an attempt.
    struct AttemptEnd: Sendable {
        var record: TransferRecord
        /// Why it failed; `nil` if it succeeded or did not run to its end.
        var fault: TransferFault?
        /// The condition that a discretionary transfer must wait for.
        var obstacle: TransferWait?
        var isCancelled = false
    }

    /// Runs one attempt.
    ///
    /// - Parameter mayStartWhileBusy: whether a busy machine no longer holds a discretionary transfer back.
    @concurrent private nonisolated func attempt(
        _ record: TransferRecord,
        _ context: AttemptContext,
        mayStartWhileBusy: Bool
    ) async -> AttemptEnd {
        if record.transfer.discretionary, let obstacle = await obstacle(), obstacle != .limiter || !mayStartWhileBusy {
            return AttemptEnd(record: record, obstacle: obstacle)
        }
        var end = AttemptEnd(record: record)
        do {
            switch record.transfer.direction {
            case .get:
                let download = Download(record, context)
                defer { end.record = download.record }
                try await download.run()
            case .put:
                let upload = Upload(record, context)
                defer { end.record = upload.record }
                try await upload.run()
            }
        } catch let fault as TransferFault {
            end.fault = fault
        } catch {
            end.isCancelled = true
        }
        return end
    }
}
