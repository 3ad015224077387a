package import BackgrounderAPI
import FoundationEssentials
package import Logging
package import MQTTClient
import ServiceLifecycle
import Synchronization
import SystemSupport
import WebSupport

/// Publishes the points of this machine to brokers and web servers.
///
/// The history is the queue: each publisher has a cursor over points that are stored anyway, so that nothing is lost while the link
/// is down, and nothing waits in memory. The session with a broker has a thread of its own.
package actor FleetPublisher: Service {
    struct Entry {
        var publisher: StoredPublisher
        var outbox: PointOutbox?
        var session: (any PublisherSession)?
        var sessionNumber = 0
        var state = PublisherState.waiting
        var lastError: String?
        /// Why the machine receives no commands.
        var deafness: String?
        let messages = MessageQueue()
        var report: MachineReport?
    }

    enum Phase {
        case created, serving, ending
    }

    /// The publishers that may exist at a time. Tuned: each has a connection, and those to brokers have a thread each.
    package static let most = 8
    /// The time for the ends of sessions. Tuned: a small part of the 2 s that a stop may take.
    private static let farewell = Duration.milliseconds(300)
    /// The time for a connection that deletes the retained messages of a machine. Tuned: for TLS at a round trip of 500 ms.
    private static let erasure = Duration.seconds(4)

    var entries: [Entry]
    let journal: any PublisherJournal
    private let startWithin: Duration
    private let pace: Double?
    let web: WebAccess
    let clock: any Clock<Duration>
    private let logger: Logger
    let onChange: @Sendable () -> Void
    private var receiver: (@Sendable (MQTTMessage, StoredPublisher) async -> MQTTDeliveryFailure?)?
    var observe: (@Sendable () async -> ServiceStatus)?
    let changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let reports = AsyncStream.makeStream(of: (session: Int, report: SessionReport).self)
    private var lastSession = 0
    var phase = Phase.created
    let turn = Turn()
    /// Waits for the disk.
    let executor = QueueExecutor("backgrounder.publish")
    var declarationFile = ""
    /// The newest point.
    let position: Mutex<Location?>
    /// The outboxes and sessions that wait for new points.
    let open = Mutex<[(outbox: PointOutbox, session: any PublisherSession)]>([])

    /// Creates the publishers of `saved`. They begin in ``run()``.
    ///
    /// - Parameters:
    ///   - position: the newest point.
    ///   - startWithin: the longest random time after which a backlog begins.
    ///   - pace: the points a second of a backlog; `nil` for an adaptive pace.
    ///   - web: how points reach web servers.
    ///   - onChange: called on the actor's executor after each change of a state.
    package init(
        saved: [StoredPublisher],
        position: Location?,
        journal: any PublisherJournal,
        startWithin: Duration,
        pace: Double?,
        web: WebAccess,
        clock: any Clock<Duration>,
        logger: Logger,
        onChange: @escaping @Sendable () -> Void
    ) {
        entries = saved.map { Entry(publisher: $0) }
        (self.journal, self.startWithin, self.pace, self.web) = (journal, startWithin, pace, web)
        (self.clock, self.logger, self.onChange) = (clock, logger, onChange)
        self.position = Mutex(position)
    }

    /// Sets what the publishers need of the rest of the service. Call it before ``run()``.
    ///
    /// - Parameters:
    ///   - receiver: stores a command, which is acknowledged only if it returns `nil`.
    ///   - status: returns the state of the service, for the status documents.
    package func connect(
        receiver: @escaping @Sendable (MQTTMessage, StoredPublisher) async -> MQTTDeliveryFailure?,
        status: @escaping @Sendable () async -> ServiceStatus
    ) {
        (self.receiver, observe) = (receiver, status)
    }

    /// Publishes until graceful shutdown or cancellation.
    package func run() async throws {
        await turn.begin()
        phase = .serving
        for index in entries.indices { begin(index) }
        turn.end()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.reportStatus() }
            await withGracefulShutdownHandler {
                for await (session, report) in reports.stream { heard(report, from: session) }
            } onGracefulShutdown: { [reports] in
                reports.continuation.finish()
            }
            group.cancelAll()
        }
        await turn.begin()
        phase = .ending
        await end(Array(entries.indices))
        turn.end()
    }

    /// Notes that points were stored, the last of them at `newest`. Any thread; returns immediately.
    package nonisolated func stored(_ newest: Location) {
        position.withLock { $0 = newest }
        open.withLock { open in
            for (outbox, session) in open where outbox.stored(newest) { session.wake() }
        }
    }

    /// Returns the status of each publisher, oldest first.
    package func status() async -> [PublisherStatus] {
        var all: [PublisherStatus] = []
        for entry in entries { all.append(await status(entry)) }
        return all
    }

    /// Returns the status of one publisher.
    ///
    /// - Throws: ``PublisherError/noSuchPublisher(_:)``
    package func status(of name: String) async throws(PublisherError) -> PublisherStatus {
        await status(entries[try index(name)])
    }

    // MARK: Sessions

    func index(_ name: String) throws(PublisherError) -> Int {
        guard let index = entries.firstIndex(where: { $0.publisher.name == name }) else {
            throw .noSuchPublisher(name)
        }
        return index
    }

    func begin(_ index: Int) {
        let publisher = entries[index].publisher
        guard phase == .serving, !publisher.isPaused else { return }
        let outbox = PointOutbox(
            publisher,
            position: position.withLock(\.self),
            startWithin: startWithin,
            pace: Pace(fixed: pace),
            queue: entries[index].messages,
            journal: journal
        )
        lastSession += 1
        (entries[index].state, entries[index].lastError, entries[index].report) = (.waiting, nil, nil)
        do {
            let session = try session(of: publisher, outbox) { [reports = reports.continuation, lastSession] report in
                reports.yield((lastSession, report))
            }
            (entries[index].outbox, entries[index].session) = (outbox, session)
            entries[index].sessionNumber = lastSession
            open.withLock { $0.append((outbox, session)) }
        } catch {
            entries[index].lastError = "cannot open a connection: \(error); restart the service"
            logger.error("Publisher \(publisher.name): cannot open a connection: \(error)")
        }
    }

    /// Opens the connection of a publisher.
    ///
    /// - Throws: ``SystemRefusal`` or ``WebURLError``.
    private func session(
        of publisher: StoredPublisher,
        _ outbox: PointOutbox,
        report: @escaping @Sendable (SessionReport) -> Void
    ) throws -> any PublisherSession {
        switch publisher.address {
        case .broker(let address):
            var options = Self.options(publisher, at: address)
            (options.topics, options.will) = (publisher.commandTopics, outbox.messages.will)
            return try MQTTSession(options, thread: "publish", outbox: outbox) { [weak self] message in
                await self?.receive(message, of: publisher)
            } report: {
                report(SessionReport($0))
            }
        case .server(let url):
            return PostSession(
                try WebURL(url),
                publisher,
                outbox: outbox,
                web: web,
                clock: clock,
                report: report
            )
        }
    }

    private static func options(_ publisher: StoredPublisher, at broker: BrokerAddress) -> MQTTOptions {
        MQTTOptions(
            address: broker,
            credentials: publisher.credentials,
            certificate: publisher.certificate.flatMap { file in
                publisher.key.map { ClientCertificate(file: file, key: $0) }
            },
            clientID: "backgrounder-\(publisher.machine)-\(publisher.name)"
        )
    }

    private func receive(_ message: MQTTMessage, of publisher: StoredPublisher) async -> MQTTDeliveryFailure? {
        await receiver?(message, publisher)
    }

    /// Ends the sessions of entries, after which their progress is final. The caller has the turn.
    ///
    /// - Parameter forgetting: whether nothing of them stays at brokers that can be reached.
    func end(_ indices: [Int], forgetting: Bool = false) async {
        let unconnected = indices.map { entries[$0] }.filter { $0.session == nil || $0.state != .connected }
        for index in indices { entries[index].session?.end(forgetting: forgetting) }
        // Points that are not acknowledged by then are sent again.
        let deadline = MonotonicTime.now + Self.farewell
        for index in indices {
            guard let outbox = entries[index].outbox, let session = entries[index].session else { continue }
            entries[index].publisher.progress = await executor.run {
                session.waitForEnd(until: deadline)
                outbox.end()
                return outbox.report.progress
            }
            (entries[index].outbox, entries[index].session) = (nil, nil)
            open.withLock { $0.removeAll { $0.outbox === outbox } }
        }
        guard forgetting, phase == .serving else { return }
        await withDiscardingTaskGroup { group in
            for entry in unconnected { group.addTask { await self.erase(entry.publisher) } }
        }
    }

    /// Deletes what the broker keeps of a publisher without a connection: retained messages, and the session with its commands.
    private func erase(_ publisher: StoredPublisher) async {
        guard case .broker(let address) = publisher.address else { return }
        var options = Self.options(publisher, at: address)
        // Such a connection ends the earlier session (MQTT 3.1.1, 3.1.2.4).
        options.isDurable = false
        let ends = AsyncStream.makeStream(of: Void.self)
        let messages = PublisherMessages(publisher).farewell(forgetting: true)
        let outbox = OneTimeOutbox(messages) { ends.continuation.finish() }
        let session = try? MQTTSession(
            options,
            thread: "publish",
            outbox: outbox,
            store: { _ in nil },
            report: { if case .failed = $0 { ends.continuation.finish() } }
        )
        guard let session else { return }
        let timer = Task { [clock] in
            try? await clock.sleep(for: Self.erasure)
            ends.continuation.finish()
        }
        for await _ in ends.stream {}
        timer.cancel()
        session.end()
        await executor.run { session.waitForEnd(until: .now + Self.farewell) }
    }

    /// Handles a report of the session with the number `session`.
    private func heard(_ report: SessionReport, from session: Int) {
        // Ignore a report of an earlier session.
        guard let index = entries.firstIndex(where: { $0.sessionNumber == session && $0.session != nil }) else {
            return
        }
        let publisher = entries[index].publisher
        let old = (entries[index].state, entries[index].lastError == nil)
        switch report {
        case .connected(let deafness):
            (entries[index].state, entries[index].lastError) = (.connected, nil)
            entries[index].deafness = deafness
            noteChange()
        case .failed(let reason, let isRefusal):
            entries[index].state = isRefusal ? .failed : .waiting
            entries[index].lastError = reason.withoutControlCharacters
        }
        // Log only changes: a broker that is down for days would fill the log.
        guard (entries[index].state, entries[index].lastError == nil) != old else { return }
        let error = entries[index].lastError ?? ""
        switch entries[index].state {
        case .connected: logger.info("Publisher \(publisher.name): connected to \(publisher.address)")
        case .waiting, .paused:
            logger.warning("Publisher \(publisher.name): \(error) (\(publisher.address)); retrying, points are kept")
        case .failed: logger.error("Publisher \(publisher.name): refused by \(publisher.address): \(error)")
        }
        onChange()
    }

    func status(_ entry: Entry) async -> PublisherStatus {
        let publisher = entry.publisher
        let report = await executor.run { entry.outbox?.report }
        let progress = report?.progress ?? publisher.progress
        let newest = (try? await journal.newestPointID()) ?? progress.done
        let wait = report?.backlogWait.map { "the backlog begins in \(Int($0.seconds.rounded(.up))) s" }
        return PublisherStatus(
            name: publisher.name,
            declared: publisher.isDeclared,
            url: publisher.address.description,
            machine: publisher.machine.description,
            topic: publisher.topic,
            groups: publisher.groups.isEmpty ? nil : publisher.groups.map(\.description),
            state: publisher.isPaused ? .paused : entry.state,
            why: publisher.isPaused
                ? "paused by a command" : entry.lastError ?? report?.fault ?? wait ?? entry.deafness,
            backlog: max(0, Int(newest - progress.done)),
            rate: report.flatMap { $0.rate >= 0.1 ? ($0.rate * 10).rounded() / 10 : nil },
            published: progress.published,
            acknowledged: progress.acknowledged,
            dropped: progress.dropped,
            lastAcknowledged: progress.lastAcknowledged,
            live: report?.live
        )
    }
}

extension StoredPublisher {
    /// The topics of commands to this machine.
    fileprivate var commandTopics: [TopicFilter] {
        ([FleetTopics.commands(to: machine)] + groups.map { FleetTopics.commands(toGroup: $0) })
            .compactMap { try? TopicFilter($0) }
    }
}
