import Glibc
import Logging
import NIOCore
import Synchronization
import SystemSupport

/// Judges passwords and slows down guessing: while a peer guesses, one of its passwords is judged per
/// ``MPDLimits/passwordDelay``, regardless of how many connections it has. All methods may be called from any thread.
final class PasswordGate: Sendable {
    /// The result of judging a password.
    enum Verdict: Hashable, Sendable {
        case granted(MPDPermissions)
        /// The password is wrong; returned ``MPDLimits/passwordDelay`` after it was judged.
        case wrong
        /// The password was not judged, because too many passwords of this peer are waiting.
        case unjudged
    }

    private struct State {
        /// The time at which the next password of a peer is judged; times in the past are dropped.
        var next: [MPDPeer: ContinuousClock.Instant] = [:]
        /// The number of wrong passwords since the last log line.
        var unreported: [MPDPeer: Int] = [:]
        var isReportDue = false
    }

    /// The number of peers with a rate of their own. Tuned: bounds the memory; all further peers share one rate.
    private static let mostPeers = 1000
    private let access: MPDAccess
    private let limits: MPDLimits
    private let group: any EventLoopGroup
    private let logger: Logger
    private let state = Mutex(State())

    init(_ access: MPDAccess, limits: MPDLimits, group: any EventLoopGroup, logger: Logger) {
        self.access = access
        self.limits = limits
        self.group = group
        self.logger = logger
    }

    var defaultPermissions: MPDPermissions { access.defaultPermissions }

    /// Judges a password from a peer, after waiting for its turn. Returns early if the calling task is cancelled.
    func judge(_ password: String, from peer: MPDPeer) async -> Verdict {
        let granted = access.permissions(for: password)
        let now = ContinuousClock.now
        let turn = state.withLock { state -> ContinuousClock.Instant? in
            state.next = state.next.filter { $0.value > now }
            let peer = state.next[peer] == nil && state.next.count >= Self.mostPeers ? .other : peer
            let turn = max(now, state.next[peer] ?? now)
            if turn == now, granted != nil { return turn }
            guard turn - now <= limits.passwordWait else { return nil }
            // A correct password that has to wait takes a turn too, so that more connections give no earlier answer.
            state.next[peer] = turn + limits.passwordDelay
            return turn
        }
        guard let turn else {
            note(peer)
            return .unjudged
        }
        if let granted {
            await sleep(turn - now)
            return .granted(granted)
        }
        note(peer)
        await sleep(turn - now + limits.passwordDelay)
        return .wrong
    }

    private func sleep(_ duration: Duration) async {
        guard duration > .zero else { return }
        let timer = group.any().scheduleTask(in: TimeAmount(duration)) {}
        await withTaskCancellationHandler {
            try? await timer.futureResult.get()
        } onCancel: {
            timer.cancel()
        }
    }

    // MARK: The log

    /// Logs the first wrong password immediately, and counts further ones for one log line per interval.
    private func note(_ peer: MPDPeer) {
        let isFirst = state.withLock { state in
            defer { state.isReportDue = true }
            if state.isReportDue { state.unreported[peer, default: 0] += 1 }
            return !state.isReportDue
        }
        guard isFirst else { return }
        logger.warning("MPD: wrong password from \(peer)")
        scheduleReport()
    }

    private func scheduleReport() {
        group.any().scheduleTask(in: TimeAmount(limits.passwordReport)) { self.report() }
    }

    private func report() {
        let counts = state.withLock { state in
            defer { state.unreported = [:] }
            state.isReportDue = !state.unreported.isEmpty
            return state.unreported
        }
        guard let (peer, most) = counts.max(by: { $0.value < $1.value }) else { return }
        let total = counts.values.reduce(0, +)
        let others =
            counts.count == 1 ? "" : " (\(most)) and \(counted(counts.count - 1, "other peer")) (\(total - most))"
        logger.warning("MPD: \(counted(total, "more wrong password")) from \(peer)\(others)")
        scheduleReport()
    }
}

/// The origin of a client, for telling password guessers apart: an IPv4 address, the network of an IPv6 address, or the
/// Unix socket.
enum MPDPeer: Hashable, Sendable, CustomStringConvertible {
    case local
    case v4(String)
    /// The first 64 bits of an IPv6 address; a client can choose the other bits.
    case v6([UInt8])
    case other

    /// Creates the peer of a TCP connection.
    ///
    /// - Parameter address: the IP address as text; `nil` if it is unknown.
    init(address: String?) {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard let address else {
            self = .other
            return
        }
        guard inet_pton(AF_INET6, address, &bytes) == 1 else {
            self = .v4(address)
            return
        }
        // An IPv4 client of a dual-stack socket: ::ffff:a.b.c.d
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        self = isMapped ? .v4(bytes[12...].map(String.init).joined(separator: ".")) : .v6(Array(bytes[..<8]))
    }

    var description: String {
        switch self {
        case .local: "the Unix socket"
        case .v4(let address): address
        case .v6(let bytes):
            stride(from: 0, to: bytes.count, by: 2)
                .map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }.joined(separator: ":") + "::/64"
        case .other: "another address"
        }
    }
}
