package import BackgrounderAPI
package import FoundationEssentials
package import Logging
import MQTTClient
import ServiceLifecycle
import Synchronization
import SystemSupport
import WebSupport

/// Publishes the points of this machine to brokers.
///
/// The history is the queue: each publisher has a cursor over points that are stored anyway, so that nothing is lost while the link
/// is down, and nothing waits in memory. Each has a session with a thread of its own.
package actor FleetPublisher: Service {
    private struct Entry {
        var publisher: StoredPublisher
        var outbox: PointOutbox?
        var session: MQTTSession?
        var sessionNumber = 0
        var state = PublisherState.waiting
        var lastError: String?
    }

    private enum Phase {
        case created, serving, ending
    }

    /// The publishers that may exist at a time. Tuned: each has a thread and a connection.
    package static let most = 8

    private var entries: [Entry]
    private let journal: any PublisherJournal
    private let startWithin: Duration
    private let pace: Double?
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let onChange: @Sendable () -> Void
    private let reports = AsyncStream.makeStream(of: (session: Int, report: MQTTReport).self)
    private var lastSession = 0
    private var phase = Phase.created
    private let turn = Turn()
    /// Waits for the disk.
    private let executor = QueueExecutor("backgrounder.publish")
    private var declarationFile = ""
    /// The newest point.
    private let position: Mutex<Location?>
    /// The outboxes and sessions that wait for new points.
    private let open = Mutex<[(outbox: PointOutbox, session: MQTTSession)]>([])

    /// Creates the publishers of `saved`. They begin in ``run()``.
    ///
    /// - Parameters:
    ///   - position: the newest point.
    ///   - startWithin: the longest random time after which a backlog begins.
    ///   - pace: the points a second of a backlog; `nil` for an adaptive pace.
    ///   - onChange: called on the actor's executor after each change of a state.
    package init(
        saved: [StoredPublisher],
        position: Location?,
        journal: any PublisherJournal,
        startWithin: Duration,
        pace: Double?,
        clock: any Clock<Duration>,
        logger: Logger,
        onChange: @escaping @Sendable () -> Void
    ) {
        entries = saved.map { Entry(publisher: $0) }
        (self.journal, self.startWithin, self.pace) = (journal, startWithin, pace)
        (self.clock, self.logger, self.onChange) = (clock, logger, onChange)
        self.position = Mutex(position)
    }

    /// Publishes until graceful shutdown or cancellation.
    package func run() async throws {
        await turn.begin()
        phase = .serving
        for index in entries.indices { begin(index) }
        turn.end()
        for await (session, report) in reports.stream.cancelOnGracefulShutdown() { heard(report, from: session) }
        await turn.begin()
        phase = .ending
        for index in entries.indices { await end(index) }
        turn.end()
        // The sessions say goodbye. Tuned: a small part of the 2 s that a stop may take.
        try? await clock.sleep(for: .milliseconds(100))
    }

    /// Notes that points were stored, the last of them at `newest`. Any thread; returns immediately.
    package nonisolated func stored(_ newest: Location) {
        position.withLock { $0 = newest }
        open.withLock { open in
            for (outbox, session) in open {
                outbox.stored(newest)
                session.wake()
            }
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

    /// Stores a new publisher, which begins immediately.
    ///
    /// - Throws: ``PublisherError``, or an error of the journal.
    package func add(_ request: PublisherRequest) async throws -> PublisherStatus {
        if let problem = request.problem { throw PublisherError.invalid(problem) }
        if let path = request.credentials {
            do throws(CredentialsError) {
                _ = try await QueueExecutor.credentials.run { () throws(CredentialsError) in
                    try BrokerCredentials(path: path)
                }
            } catch {
                throw PublisherError.credentials(error)
            }
        }
        await turn.begin()
        defer { turn.end() }
        guard !entries.contains(where: { $0.publisher.name == request.name }) else {
            throw PublisherError.exists(request.name)
        }
        guard entries.count < Self.most else { throw PublisherError.tooMany(limit: Self.most) }
        let publisher = try await publisher(request)
        try await journal.change(removing: [], adding: [publisher], adopting: [])
        entries.append(Entry(publisher: publisher))
        begin(entries.count - 1)
        onChange()
        return await status(entries[entries.count - 1])
    }

    /// Removes a publisher. Nothing of it stays at the broker.
    ///
    /// - Throws: ``PublisherError``, or an error of the journal.
    package func remove(_ name: String) async throws {
        await turn.begin()
        defer { turn.end() }
        let index = try index(name)
        if entries[index].publisher.isDeclared { throw PublisherError.declared(name, file: declarationFile) }
        try await journal.change(removing: [name], adding: [], adopting: [])
        await end(index, forgetting: true)
        entries.remove(at: index)
        onChange()
    }

    /// Ends the connection of a publisher until ``resume(_:)``. Its points wait in the history.
    ///
    /// - Throws: ``PublisherError/noSuchPublisher(_:)``, or an error of the journal.
    package func pause(_ name: String) async throws -> PublisherStatus { try await setPaused(true, name) }

    /// Continues after ``pause(_:)``.
    ///
    /// - Throws: ``PublisherError/noSuchPublisher(_:)``, or an error of the journal.
    package func resume(_ name: String) async throws -> PublisherStatus { try await setPaused(false, name) }

    private func setPaused(_ isPaused: Bool, _ name: String) async throws -> PublisherStatus {
        await turn.begin()
        defer { turn.end() }
        let index = try index(name)
        if entries[index].publisher.isPaused != isPaused {
            try await journal.setPaused(isPaused, of: name)
            entries[index].publisher.isPaused = isPaused
            if isPaused { await end(index) } else { begin(index) }
            onChange()
        }
        return await status(entries[index])
    }

    /// Sends the points of `time` and later again.
    ///
    /// - Throws: ``PublisherError/noSuchPublisher(_:)``, or an error of the journal.
    package func rewind(_ name: String, to time: Date) async throws -> PublisherStatus {
        await turn.begin()
        defer { turn.end() }
        let index = try index(name)
        let done = try await journal.lastPoint(before: time)
        entries[index].publisher.progress.done = done
        if let outbox = entries[index].outbox {
            await executor.run { outbox.rewind(to: done) }
            entries[index].session?.wake()
        } else {
            let progress = entries[index].publisher.progress
            try await executor.run { [journal] in try journal.save(progress, of: name) }
        }
        onChange()
        return await status(entries[index])
    }

    /// Makes the declared publishers those of `requests`, in one transaction: adds, changes and removes publishers.
    ///
    /// Publishers that a command added stay. One with a declared name becomes a declared one. If the machine or the broker changes, it
    /// is another publisher, which begins with the next point.
    ///
    /// - Parameters:
    ///   - requests: valid requests with different names.
    ///   - file: the configuration file, for errors of commands.
    /// - Throws: ``PublisherError/tooMany(limit:)`` or an error of the journal; nothing changes then.
    package func declare(_ requests: [PublisherRequest], in file: String) async throws {
        await turn.begin()
        defer { turn.end() }
        declarationFile = file
        let declared = Set(requests.map(\.name))
        var removed = entries.map(\.publisher).filter { $0.isDeclared && !declared.contains($0.name) }.map(\.name)
        var (added, adopted) = ([StoredPublisher](), [String]())
        for request in requests {
            var new = try await publisher(request)
            new.isDeclared = true
            let old = entries.first { $0.publisher.name == request.name }?.publisher
            if let old, old.isSame(as: new) {
                if !old.isDeclared { adopted.append(old.name) }
            } else {
                if let old { removed.append(old.name) }
                added.append(new)
            }
        }
        guard !(removed.isEmpty && added.isEmpty && adopted.isEmpty) else { return }
        guard entries.count - removed.count + added.count <= Self.most else {
            throw PublisherError.tooMany(limit: Self.most)
        }
        try await journal.change(removing: removed, adding: added, adopting: adopted)
        for name in removed {
            guard let index = try? index(name) else { continue }
            await end(index, forgetting: true)
            entries.remove(at: index)
        }
        for index in entries.indices where adopted.contains(entries[index].publisher.name) {
            entries[index].publisher.isDeclared = true
        }
        // The old session deletes its retained messages before the new one writes the same topics. Tuned: for a quick broker.
        if !removed.isEmpty { try? await clock.sleep(for: .milliseconds(100)) }
        for publisher in added {
            entries.append(Entry(publisher: publisher))
            begin(entries.count - 1)
        }
        onChange()
    }

    // MARK: Sessions

    private func index(_ name: String) throws(PublisherError) -> Int {
        guard let index = entries.firstIndex(where: { $0.publisher.name == name }) else {
            throw .noSuchPublisher(name)
        }
        return index
    }

    private func publisher(_ request: PublisherRequest) async throws -> StoredPublisher {
        let done: Int64
        if let since = request.since {
            done = try await journal.lastPoint(before: since)
        } else {
            done = try await journal.newestPointID()
        }
        return StoredPublisher(
            name: request.name,
            address: try BrokerAddress(request.url),
            machine: try MachineID(request.machine),
            topic: request.topic ?? "",
            isForHomeAssistant: request.homeAssistant ?? false,
            credentials: request.credentials,
            progress: PublishProgress(done: done)
        )
    }

    private func begin(_ index: Int) {
        let publisher = entries[index].publisher
        guard phase == .serving, !publisher.isPaused else { return }
        let outbox = PointOutbox(
            publisher,
            position: position.withLock(\.self),
            startWithin: startWithin,
            pace: Pace(fixed: pace),
            journal: journal
        )
        lastSession += 1
        let options = MQTTOptions(
            address: publisher.address,
            credentials: publisher.credentials,
            clientID: "backgrounder-\(publisher.machine)-\(publisher.name)",
            will: outbox.messages.will
        )
        (entries[index].state, entries[index].lastError) = (.waiting, nil)
        do throws(SystemRefusal) {
            let session = try MQTTSession(options, thread: "publish", outbox: outbox) { _ in
                nil
            } report: { [reports = reports.continuation, lastSession] report in
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

    /// Ends the session of an entry. The caller has the turn.
    private func end(_ index: Int, forgetting: Bool = false) async {
        guard let outbox = entries[index].outbox else { return }
        entries[index].publisher.progress = await executor.run {
            outbox.end()
            return outbox.report.progress
        }
        entries[index].session?.end(forgetting: forgetting)
        (entries[index].outbox, entries[index].session) = (nil, nil)
        open.withLock { $0.removeAll { $0.outbox === outbox } }
    }

    /// Handles a report of the session with the number `session`.
    private func heard(_ report: MQTTReport, from session: Int) {
        // Ignore a report of an earlier session.
        guard let index = entries.firstIndex(where: { $0.sessionNumber == session && $0.session != nil }) else {
            return
        }
        let publisher = entries[index].publisher
        let old = (entries[index].state, entries[index].lastError == nil)
        switch report {
        case .connected: (entries[index].state, entries[index].lastError) = (.connected, nil)
        case .failed(let failure):
            entries[index].state = failure.isRefusal ? .failed : .waiting
            entries[index].lastError = failure.description.withoutControlCharacters
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

    private func status(_ entry: Entry) async -> PublisherStatus {
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
            state: publisher.isPaused ? .paused : entry.state,
            why: publisher.isPaused ? "paused by a command" : entry.lastError ?? report?.fault ?? wait,
            backlog: max(0, Int(newest - progress.done)),
            published: progress.published,
            acknowledged: progress.acknowledged,
            dropped: progress.dropped,
            lastAcknowledged: progress.lastAcknowledged,
            live: report?.live
        )
    }
}

extension StoredPublisher {
    /// Returns whether this publishes the same machine to the same broker as `other`.
    fileprivate func isSame(as other: StoredPublisher) -> Bool {
        address == other.address && machine == other.machine && topic == other.topic
            && credentials == other.credentials && isForHomeAssistant == other.isForHomeAssistant
    }
}
