import BackgrounderAPI
import ControlServer
import FoundationEssentials
import Logging
import StateStore
import SystemSupport
import WebSupport

/// The sessions of the page, and the codes that begin them.
///
/// A code exists only in memory, for a minute, and is good for one session. Of a token, only the SHA-256 is kept.
actor PageSessions: PageAuthority {
    /// The most sessions and codes at a time.
    static let most = 64
    /// The lifetime of a code.
    static let codeLifetime = Duration.seconds(60)

    /// What a restart keeps.
    private struct Record: Codable {
        var port: Int?
        var lastID = 0
        var sessions: [Session] = []
    }

    private struct Session: Codable {
        var id: Int
        var scope: AccessLevel
        var expires: Date
        /// The SHA-256 of the token, in hexadecimal.
        var digest: String

        var description: PageSession { PageSession(id: id, scope: scope, expires: expires) }
    }

    private struct Code {
        let scope: AccessLevel
        let duration: Duration
        let end: ContinuousClock.Instant
    }

    private static let stateName = "page"

    private let store: StateStore
    private let clock: any Clock<Duration>
    private let logger: Logger
    private var record: Record
    /// By the SHA-256 of the code.
    private var codes: [String: Code] = [:]
    private var expiry: Task<Void, Never>?
    private let changes = AsyncStream.makeStream(of: Set<Int>.self)

    /// Restores the sessions of an earlier process.
    init(store: StateStore, clock: any Clock<Duration>, logger: Logger) throws {
        (self.store, self.clock, self.logger) = (store, clock, logger)
        record = try store.state(Self.stateName).flatMap { try? JSON.decode(Record.self, from: $0) } ?? Record()
        record.sessions.removeAll { $0.expires <= Date() }
    }

    /// The ids of sessions that ended; an empty set when a code or a session was added or a code ended. For one reader.
    nonisolated var events: AsyncStream<Set<Int>> { changes.stream }

    /// Ends ``events``.
    nonisolated func endEvents() { changes.continuation.finish() }

    /// Whether there is a session or a code.
    var isNeeded: Bool { !codes.isEmpty || !record.sessions.isEmpty }

    /// The port on loopback that was last used.
    var port: Int? { record.port }

    /// The sessions, oldest first.
    var all: [PageSession] { record.sessions.map(\.description) }

    /// Stores the port on loopback.
    func setPort(_ port: Int) async throws {
        guard record.port != port else { return }
        var new = record
        new.port = port
        try await save(new)
    }

    /// Creates a code for a session of `duration`.
    ///
    /// - Throws: ``WireError`` with `conflict` if there are too many sessions.
    func addCode(scope: AccessLevel, duration: Duration) throws(WireError) -> (code: String, expires: Date) {
        endExpired()
        guard codes.count + record.sessions.count < Self.most else {
            throw WireError(
                .conflict,
                "there are \(Self.most) sessions of the page, the maximum",
                hint: "end one with `backgrounder open --revoke ID`"
            )
        }
        let code = Self.secret(bytes: 16)
        codes[Self.digest(code)] = Code(scope: scope, duration: duration, end: .now + Self.codeLifetime)
        changed()
        return (code, Date() + Self.codeLifetime.seconds)
    }

    /// Ends a code that was not exchanged.
    func removeCode(_ code: String) {
        codes[Self.digest(code)] = nil
        changed()
    }

    /// Exchanges a code for a token. The code is not valid afterwards.
    ///
    /// - Throws: ``WireError`` with `unauthorized` if the code is not valid, or the error of the store.
    func exchange(_ code: String) async throws -> PageToken {
        endExpired()
        guard let use = codes.removeValue(forKey: Self.digest(code)) else {
            throw WireError(
                .unauthorized,
                "the code is not valid: it works once, within \(Self.codeLifetime.components.seconds) s",
                hint: "run `backgrounder open` again"
            )
        }
        let token = Self.secret(bytes: 32)
        var new = record
        new.lastID += 1
        let session = Session(
            id: new.lastID,
            scope: use.scope,
            expires: Date() + use.duration.seconds,
            digest: Self.digest(token)
        )
        new.sessions.append(session)
        try await save(new)
        logger.notice("Session \(session.id) of the page began; it may \(session.scope.rawValue)")
        changed()
        return PageToken(token: token, scope: session.scope, expires: session.expires)
    }

    func session(withToken token: String) -> PageSession? {
        let digest = Self.digest(token)
        return record.sessions.first { $0.digest == digest && $0.expires > Date() }?.description
    }

    /// Ends a session.
    ///
    /// - Throws: ``WireError`` with `notFound` if there is none with this id, or the error of the store.
    func revoke(_ id: Int) async throws {
        var new = record
        new.sessions.removeAll { $0.id == id }
        guard new.sessions.count < record.sessions.count else {
            throw WireError(.notFound, "no session \(id) of the page", hint: "`backgrounder open --list` lists them")
        }
        try await save(new)
        logger.notice("Session \(id) of the page was revoked")
        changed(ended: [id])
    }

    /// Begins to watch the ends of codes and sessions.
    func start() { changed() }

    private func save(_ new: Record) async throws {
        // Before the suspension, so that two changes at the same time do not undo each other.
        let old = record
        record = new
        do {
            try await store.save(StateRecord(name: Self.stateName, value: JSON.encode(new)), durable: true)
        } catch {
            record = old
            throw error
        }
    }

    private func changed(ended: Set<Int> = []) {
        changes.continuation.yield(ended)
        expiry?.cancel()
        let delays =
            codes.values.map { ContinuousClock.now.duration(to: $0.end) }
            + record.sessions.map { Duration.seconds($0.expires.timeIntervalSinceNow) }
        guard let delay = delays.min() else { return }
        expiry = Task { [clock] in
            do { try await clock.sleep(for: max(delay, .zero) + .milliseconds(10)) } catch { return }
            endExpired()
        }
    }

    private func endExpired() {
        let (count, now) = (codes.count, Date())
        codes = codes.filter { $0.value.end > .now }
        let ended = Set(record.sessions.filter { $0.expires <= now }.map(\.id))
        // The stored record may keep them; they are left out when it is read.
        record.sessions.removeAll { ended.contains($0.id) }
        if codes.count < count || !ended.isEmpty { changed(ended: ended) }
    }

    private static func secret(bytes count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return SHA256.hexadecimal((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    private static func digest(_ secret: String) -> String {
        Array(secret.utf8).withUnsafeBytes { SHA256.hexadecimal(SHA256.digest($0)) }
    }
}
