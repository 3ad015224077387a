package import BackgrounderAPI
package import FoundationEssentials
package import Logging
package import NIOCore
import ServiceLifecycle

/// The transfers of all sessions: which of them runs now, what the others wait for, and what becomes of them.
///
/// A session is a name: transfers that have it belong together, and so do their events. Whatever a restart must give back is in the
/// journal before it is acted on; a stop leaves the transfers as they are, and they go on after the next start.
///
///     let session = TransferSession(configuration: …, records: …, journal: …)
///     let transfer = try await session.add(TransferRequest(url: "https://…", destination: "/srv/downloads/map.bin"))
package actor TransferSession: Service {
    struct Entry {
        var record: TransferRecord
        var runner: Task<Void, Never>?
        /// Ends a wait.
        var timer: Task<Void, Never>?
        /// What is to become of it when its attempt has ended.
        var intent: Intent?
        /// Whether the end of this process ended the attempt before.
        var isExcused = false
        /// Whether it was said that it waits for room on the disk, and not yet that it continues.
        var lacksRoom = false
        /// How often a busy machine held it back.
        var busyLooks = 0
        /// What it becomes, from when that is certain until it is stored: nothing else happens to it any more.
        var end: TransferState?

        /// Whom it is from or for.
        let host: String

        init(_ record: TransferRecord) {
            self.record = record
            host = (try? WebURL(record.detail.url))?.origin.host ?? ""
        }

        /// Whether it would run if it were its turn.
        var isReady: Bool { runner == nil && end == nil && record.transfer.state == .queued }
        /// Whether a way out of this machine may be what it waits for.
        var waitsForWay: Bool {
            record.transfer.state == .waiting
                && (record.transfer.waitingFor == .network || record.transfer.waitingFor == .backoff)
        }
    }

    enum Intent {
        case pause, cancel, stop
        /// The host's conditions changed.
        case hold
    }

    let configuration: TransferConfiguration
    let journal: any TransferJournal
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    private let group: any EventLoopGroup
    let conditions: any HostConditions
    let logger: Logger
    let onChange: @Sendable (Transfer, _ isProgress: Bool) -> Void
    private let boot: String
    /// Threads for the disk; each running transfer has one of its own.
    private var idleExecutors: [DiskExecutor] = []
    let checker = DiskExecutor("backgrounder.transfers")

    var entries: [Int: Entry] = [:]
    var isRunning = false
    var watch: HostWatch?

    /// - Parameters:
    ///   - records: the open ones of the journal.
    ///   - boot: names this boot of the machine.
    ///   - onChange: called after each change, from any thread; for more bytes alone some four times a second.
    package init(
        configuration: TransferConfiguration,
        records: [TransferRecord],
        journal: any TransferJournal,
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date = { Date() },
        group: any EventLoopGroup,
        conditions: any HostConditions = LinuxConditions(),
        boot: String = TransferSession.boot(),
        logger: Logger,
        onChange: @escaping @Sendable (Transfer, _ isProgress: Bool) -> Void
    ) {
        (self.configuration, self.journal, self.clock, self.now) = (configuration, journal, clock, now)
        (self.group, self.conditions, self.boot) = (group, conditions, boot)
        (self.logger, self.onChange) = (logger, onChange)
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

    /// The kernel's name for this boot.
    package static func boot() -> String {
        guard let data = try? Data(contentsOf: URL(filePath: "/proc/sys/kernel/random/boot_id")) else { return "" }
        return String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }

    package func run() async throws {
        isRunning = true
        for (id, entry) in entries where entry.record.transfer.state == .waiting {
            let left = entry.record.detail.next.map { max(0, $0.timeIntervalSince(now())) } ?? 0
            // A clock that was set back must not make it wait for years.
            arm(id, after: min(.seconds(left), RetryAfter.most))
        }
        schedule()
        try? await gracefulShutdown()
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

    /// Those that are not over, by id.
    package var open: [Transfer] {
        entries.values.map(\.record.transfer).sorted { $0.id < $1.id }
    }

    /// Whether a transfer moves.
    package var isAtWork: Bool { entries.values.contains { $0.runner != nil } }

    // MARK: Turns

    /// Starts those whose turn it is: urgent ones first, then the oldest.
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

    private func start(_ id: Int) {
        guard let entry = entries[id] else { return }
        let executor = idleExecutors.popLast() ?? DiskExecutor("backgrounder.transfer")
        let context = AttemptContext(
            configuration: configuration,
            group: group,
            clock: clock,
            now: now,
            boot: boot,
            isExcused: entry.isExcused,
            executor: executor,
            store: { record throws(TransferFault) in try await self.keep(record) },
            show: { received in await self.show(id, received: received) }
        )
        let record = entry.record
        let mayStartWhileBusy = entry.busyLooks >= configuration.limits.busyLooks
        entries[id]?.isExcused = false
        entries[id]?.record.detail.next = nil
        entries[id]?.runner = Task {
            let end = await attempt(record, context, mayStartWhileBusy: mayStartWhileBusy)
            await finish(id, end)
            idleExecutors.append(executor)
        }
    }

    /// How an attempt ended, and what the transfer is then.
    struct AttemptEnd: Sendable {
        var record: TransferRecord
        /// `nil` when the file is where it should be.
        var fault: TransferFault?
        var obstacle: TransferWait?
        var isCancelled = false
    }

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
