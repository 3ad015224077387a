import BackgrounderAPI
import Foundation
import Logging
import NIOPosix
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import WebSupport

@testable import BackgroundTransfers

/// Transfers with a journal in memory, a web server and a folder for one test.
final class TransferRig: Sendable {
    let scratch: ScratchDirectory
    let server: TestWebServer
    let journal = MemoryJournal()
    let changed = Signal()
    private let session: Mutex<(TransferSession, Task<Void, any Error>)?> = Mutex(nil)
    /// The folder of the downloaded files.
    let root: String
    private let roots: [String]
    private let sendsOnlyFromRoots: Bool
    private let limits: TransferLimits
    private let clock: any Clock<Duration>
    private let conditions: any HostConditions
    private let localHosts: Set<String>

    /// - Parameters:
    ///   - name: the name of ``root``.
    ///   - roots: the folders for transfers; ``root`` alone if empty.
    init(
        root name: String = "downloads",
        roots: [String] = [],
        sendsOnlyFromRoots: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(),
        conditions: any HostConditions = FixedConditions(),
        localHosts: Set<String> = [],
        _ change: (inout TransferLimits) -> Void = { _ in }
    ) throws {
        scratch = try ScratchDirectory()
        server = try TestWebServer(sendBuffer: 4096)
        root = scratch.file(name)
        self.roots = roots.isEmpty ? [root] : roots
        self.sendsOnlyFromRoots = sendsOnlyFromRoots
        var limits = TransferLimits()
        limits.firstRetry = .milliseconds(10)
        limits.reserve = 0
        change(&limits)
        (self.limits, self.clock, self.conditions) = (limits, clock, conditions)
        self.localHosts = localHosts
    }

    deinit { session.withLock { $0?.1.cancel() } }

    /// The transfers. They start with the journal's records at the first use and after each ``restart()``.
    var transfers: TransferSession {
        session.withLock { session in
            if let session { return session.0 }
            let new = TransferSession(
                configuration: TransferConfiguration(
                    roots: roots,
                    sendsOnlyFromRoots: sendsOnlyFromRoots,
                    policy: RedirectPolicy(plainHosts: ["127.0.0.1", "localhost"], localHosts: localHosts),
                    limits: limits
                ),
                records: journal.open,
                journal: journal,
                clock: clock,
                group: MultiThreadedEventLoopGroup.singleton,
                conditions: conditions,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            ) { [changed] _, _ in changed.post() }
            session = (new, Task { try await new.run() })
            return new
        }
    }

    /// Ends the transfers like a killed service, without storing anything more.
    func restart() async {
        let old = session.withLock { session in
            defer { session = nil }
            return session
        }
        journal.isDead.withLock { $0 = true }
        old?.1.cancel()
        _ = try? await old?.1.value
        journal.isDead.withLock { $0 = false }
    }

    func get(
        _ path: String,
        to name: String = "file.bin",
        sha256: String? = nil,
        sizeMax: Int64? = nil,
        exists: ExistingFile? = nil,
        discretionary: Bool? = nil,
        credentials: String? = nil,
        namedBy namer: URLNamer = .user
    ) async throws -> Int {
        try await transfers.add(
            TransferRequest(
                url: path.hasPrefix("http") ? path : server.url(path),
                destination: "\(root)/\(name)",
                sha256: sha256,
                sizeMax: sizeMax,
                exists: exists,
                discretionary: discretionary,
                credentials: credentials
            ),
            namedBy: namer
        ).id
    }

    /// Returns the transfer when it satisfies `look`.
    @discardableResult
    func wait(
        _ id: Int,
        for what: String,
        within seconds: Double = 30,
        _ look: (Transfer) -> Bool
    ) async throws -> Transfer {
        let transfers = transfers
        do {
            return try await changed.wait(for: what, within: seconds) {
                let transfer = try await transfers.transfer(id)
                return look(transfer) ? transfer : nil
            }
        } catch let error as DeadlinePassed {
            Issue.record("\(error): \(try await transfers.transfer(id))")
            throw error
        }
    }

    /// Returns the transfer when it is over.
    func end(_ id: Int, within seconds: Double = 30) async throws -> Transfer {
        try await wait(id, for: "end of transfer \(id)", within: seconds) { $0.state.isOver }
    }

    func file(_ name: String = "file.bin") -> [UInt8]? {
        FileManager.default.contents(atPath: "\(root)/\(name)").map(Array.init)
    }

    /// The names in the folder, including hidden ones.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).sorted() }
}

/// Conditions of the host that a test sets.
final class FixedConditions: HostConditions {
    private let value: Mutex<TransferWait?>

    init(_ value: TransferWait? = nil) { self.value = Mutex(value) }

    func obstacle() -> TransferWait? { value.withLock { $0 } }
    func set(_ new: TransferWait?) { value.withLock { $0 = new } }
}

/// A journal in memory that refuses all writes while it is dead.
final class MemoryJournal: TransferJournal {
    private struct State {
        var records: [Int: TransferRecord] = [:]
        var events: [TransferEvent] = []
    }

    private let state = Mutex(State())
    let isDead = Mutex(false)
    /// Whether it refuses the ends of transfers.
    let isFull = Mutex(false)

    private struct Dead: Error {}

    /// The records of transfers that are not over.
    var open: [TransferRecord] {
        state.withLock { state in
            state.records.values.filter { !$0.transfer.state.isOver }.sorted { $0.transfer.id < $1.transfer.id }
        }
    }

    func change(_ id: Int, _ body: (inout TransferDetail) -> Void) {
        state.withLock { state in
            if var record = state.records[id] {
                body(&record.detail)
                state.records[id] = record
            }
        }
    }

    func record(_ id: Int) -> TransferRecord? { state.withLock { $0.records[id] } }

    func add(_ record: TransferRecord) async throws -> Int {
        try state.withLock { state in
            if isDead.withLock({ $0 }) { throw Dead() }
            var record = record
            record.transfer.id = state.records.count + 1
            state.records[record.transfer.id] = record
            return record.transfer.id
        }
    }

    func save(_ record: TransferRecord, ended: Date?) async throws {
        try state.withLock { state in
            if isDead.withLock({ $0 }) { throw Dead() }
            if ended != nil, isFull.withLock({ $0 }) { throw Dead() }
            state.records[record.transfer.id] = record
            guard let ended else { return }
            let transfer = record.transfer
            let event = TransferEvent(
                seq: state.events.count + 1,
                session: transfer.session,
                transfer: transfer.id,
                state: transfer.state.rawValue,
                at: ended
            )
            state.events.append(event)
        }
    }

    func transfers() async throws -> [Transfer] {
        state.withLock { $0.records.values.map(\.transfer).sorted { $0.id < $1.id } }
    }

    func transfer(_ id: Int) async throws -> Transfer? { state.withLock { $0.records[id]?.transfer } }

    func removeEnded() async throws -> Int {
        try state.withLock { state in
            if isDead.withLock({ $0 }) { throw Dead() }
            let old = state.records.count
            state.records = state.records.filter { !$0.value.transfer.state.isOver }
            return old - state.records.count
        }
    }

    func sessions() async throws -> [SessionStatus] {
        state.withLock { state in
            Set(state.records.values.map(\.transfer.session)).map { SessionStatus(name: $0) }
        }
    }

    func events(of session: String) async throws -> [TransferEvent]? {
        state.withLock { state in
            state.records.values.contains { $0.transfer.session == session }
                ? state.events.filter { $0.session == session } : nil
        }
    }

    func acknowledge(_ session: String, through seq: Int, at: Date) async throws -> [TransferEvent]? {
        state.withLock { $0.events.removeAll { $0.session == session && $0.seq <= seq } }
        return try await events(of: session)
    }
}

/// A condition that becomes true once.
final class Flag: Sendable {
    private let state = Mutex(false)
    var value: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}
