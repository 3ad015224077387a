package import BackgrounderAPI
import FoundationEssentials
import Glibc
package import Logging
package import MQTTClient
import ServiceLifecycle
import Synchronization
import SystemSupport

/// Stores the points of a fleet in PostgreSQL.
///
/// A message is acknowledged once it is stored, so the death of the database, the broker or the collector loses nothing that the broker
/// keeps. A message that comes twice is stored once. Messages that have arrived together share a transaction.
package final class FleetCollector: Service {
    /// The work of the collector since its start.
    package struct Counts: Hashable, Sendable {
        package var stored = 0
        package var duplicates = 0
        /// Messages that are neither points nor reports.
        package var invalid = 0
        package var batches = 0
        /// Seconds from the recording of the newest point in the last batch until it was stored.
        package var lag: Double?
        package var isBrokerConnected = false
        package var isDatabaseConnected = false
    }

    /// Tuned: twice the window that brokers are advised to have, and transactions of 1,000 points, which take about 40 ms.
    private static let batch = 4000

    private let options: MQTTOptions
    private let store: Mutex<CollectorStore>
    private let logger: Logger
    private let counter = Mutex(Counts())
    /// The last failure of the broker that was logged; `nil` while it is connected.
    private let brokerFailure = Mutex<String?>(nil)
    /// One for each processor.
    private let parsers = (0..<max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))).map { _ in
        QueueExecutor("backgrounder.collector.parser")
    }
    /// Waits for PostgreSQL.
    private let executor = QueueExecutor("backgrounder.collector")

    /// - Parameters:
    ///   - name: the client id, under which the broker keeps messages while the collector is away.
    ///   - share: the name of a group of collectors that divide the messages among themselves (`$share`).
    ///   - database: the address of the database, as for ``PostgresConnection``.
    package init(
        _ address: BrokerAddress,
        credentials: String? = nil,
        certificate: ClientCertificate? = nil,
        name: String,
        share: String? = nil,
        database: String,
        logger: Logger
    ) throws {
        let prefix = share.map { "$share/\($0)/" } ?? ""
        options = MQTTOptions(
            address: address,
            credentials: credentials,
            certificate: certificate,
            clientID: name,
            topics: try ["owntracks/+/+", "backgrounder/v1/+/state", FleetTopics.allStatuses]
                .map { try TopicFilter(prefix + $0) },
            isPatient: false,
            batch: Self.batch
        )
        store = Mutex(CollectorStore(url: database))
        self.logger = logger
    }

    package var counts: Counts { counter.withLock(\.self) }

    /// Connects to the database, and brings its tables up to date.
    ///
    /// - Throws: ``PostgresError``
    package func prepare() async throws {
        try await executor.run { try self.store.withLock { store in _ = try store.connected() } }
        counter.withLock { $0.isDatabaseConnected = true }
    }

    /// Collects until the graceful shutdown. Both the broker and the database are retried without end.
    package func run() async throws {
        let reports = AsyncStream.makeStream(of: MQTTReport.self)
        let session = try MQTTSession(options, thread: "collector") { messages, before in
            // Parsing takes longer than storing, and does not wait for it.
            let contents = await self.parse(messages)
            if let failure = await before() { return failure }
            return await self.executor.run { self.store(contents) }
        } report: {
            reports.continuation.yield($0)
        }
        await withGracefulShutdownHandler {
            for await report in reports.stream { note(report) }
        } onGracefulShutdown: {
            reports.continuation.finish()
        }
        session.end()
        // Let a transaction end that has begun. Messages that are not stored yet come again.
        await executor.run {}
    }

    private func note(_ report: MQTTReport) {
        switch report {
        case .connected:
            counter.withLock { $0.isBrokerConnected = true }
            brokerFailure.withLock { $0 = nil }
            logger.info("Connected to \(options.address)")
        case .failed(let failure):
            counter.withLock { $0.isBrokerConnected = false }
            // Log only changes: a broker that is down for days would fill the log.
            let text = failure.description.withoutControlCharacters
            let isNew = brokerFailure.withLock { last in
                defer { last = text }
                return last != text
            }
            if isNew { logger.warning("\(text) (\(options.address)); retrying") }
        }
    }

    // MARK: Messages

    /// The points and reports in some messages.
    private struct Content: Sendable {
        var points: [CollectedPoint] = []
        var reports: [(machine: String, report: CollectorStore.Report)] = []
        var invalid = 0

        init(_ messages: ArraySlice<MQTTMessage>) {
            for message in messages {
                if let payload = message.payload, let point = CollectedPoint(topic: message.topic, payload: payload) {
                    points.append(point)
                } else if let report = FleetCollector.report(message) {
                    reports.append(report)
                } else {
                    invalid += 1
                }
            }
        }
    }

    /// Parses messages on all processors. Returns their content in the order of the messages.
    private func parse(_ messages: [MQTTMessage]) async -> [Content] {
        await withTaskGroup { group in
            let portion = max(50, (messages.count + parsers.count - 1) / parsers.count)
            for (parser, first) in zip(parsers, stride(from: 0, to: messages.count, by: portion)) {
                let messages = messages[first..<min(first + portion, messages.count)]
                group.addTask { (first, await parser.run { Content(messages) }) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func store(_ contents: [Content]) -> MQTTDeliveryFailure? {
        let points = contents.flatMap(\.points)
        var invalid = contents.reduce(0) { $0 + $1.invalid }
        var reports: [String: [CollectorStore.Report]] = [:]
        for (machine, report) in contents.flatMap(\.reports) {
            // Only the newest of each kind matters.
            reports[machine, default: []].removeAll { $0.isSameKind(as: report) }
            reports[machine, default: []].append(report)
        }
        do throws(PostgresError) {
            let new = try store(points, reports, &invalid)
            let recorded = points.compactMap(\.recorded).max()
            counter.withLock { counts in
                if !counts.isDatabaseConnected { logger.info("Connected to the database") }
                counts.stored += new
                counts.duplicates += points.count - new
                counts.invalid += invalid
                counts.batches += 1
                counts.isDatabaseConnected = true
                if let recorded { counts.lag = max(0, Date().timeIntervalSince1970 - recorded) }
            }
            return nil
        } catch {
            let wasConnected = counter.withLock { counts in
                defer { counts.isDatabaseConnected = false }
                return counts.isDatabaseConnected
            }
            if wasConnected {
                logger.warning("\(error.description.withoutControlCharacters); the broker keeps the points")
            }
            return MQTTDeliveryFailure(reason: error.description)
        }
    }

    private func store(
        _ points: [CollectedPoint],
        _ reports: [String: [CollectorStore.Report]],
        _ invalid: inout Int
    ) throws(PostgresError) -> Int {
        do throws(PostgresError) {
            return try write(points, reports)
        } catch {
            guard case .statement = error, !reports.isEmpty else { throw error }
        }
        // PostgreSQL understands less JSON than others. A report that it refuses must not hold up the points.
        for (machine, reports) in reports {
            for report in reports {
                do throws(PostgresError) {
                    _ = try write([], [machine: [report]])
                } catch {
                    guard case .statement = error else { throw error }
                    invalid += 1
                }
            }
        }
        return try write(points, [:])
    }

    private func write(
        _ points: [CollectedPoint],
        _ reports: [String: [CollectorStore.Report]]
    ) throws(PostgresError) -> Int {
        try store.withLock { store throws(PostgresError) in try store.store(points, reports) }
    }

    /// Returns the report in a message of `backgrounder/v1/ID/state` or `…/status`; `nil` for anything else.
    private static func report(_ message: MQTTMessage) -> (machine: String, report: CollectorStore.Report)? {
        let levels = message.topic.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 4, levels[0] == "backgrounder", let machine = try? MachineID(String(levels[2])),
            let payload = message.payload, let text = String(validating: payload, as: UTF8.self)
        else { return nil }
        switch levels[3] {
        case "state" where ["online", "offline"].contains(text): return (machine.description, .state(text))
        // A machine that left the fleet deletes its retained messages with empty ones.
        case "state" where text.isEmpty: return (machine.description, .state("removed"))
        case "status" where (try? JSONDecoder().decode(MachineReport.self, from: Data(payload))) != nil:
            return (machine.description, .status(text))
        default: return nil
        }
    }
}

extension CollectorStore.Report {
    fileprivate func isSameKind(as other: CollectorStore.Report) -> Bool {
        switch (self, other) {
        case (.state, .state), (.status, .status): true
        case (.state, .status), (.status, .state): false
        }
    }
}
