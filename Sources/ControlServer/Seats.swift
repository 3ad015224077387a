import BackgrounderAPI
import CLinux
import Glibc
import NIOCore
import Synchronization

/// The connections of the control socket: who gets a seat, and who gives one up when there are none left.
///
/// May be called from any thread; what it closes, it closes without waiting.
final class Seats: Sendable {
    /// What a connection is used for. Only one that is not in use gives way, the unused before the idle.
    enum Use: Int, Comparable {
        /// No whole request has come yet.
        case unused
        /// Its requests have been answered.
        case idle
        case inUse

        static func < (a: Use, b: Use) -> Bool { a.rawValue < b.rawValue }
    }

    private struct Seat {
        let channel: any Channel
        let peer: Peer
        let level: AccessLevel?
        let isPrivileged: Bool
        var use = Use.unused
        /// When it came into this use.
        var since = NIODeadline.now()
    }

    private struct State {
        var seats: [ObjectIdentifier: Seat] = [:]
        /// The most there were since memory was given back.
        var peak = 0
    }

    private let policy: AccessPolicy
    private let limits: SeatLimits
    private let state = Mutex(State())

    init(policy: AccessPolicy, limits: SeatLimits) {
        self.policy = policy
        self.limits = limits
    }

    /// Gives the connection a seat; another may lose its own for it.
    ///
    /// - Returns: false when every seat that this peer may have is in use.
    func take(_ channel: any Channel, for peer: Peer) -> Bool {
        let isPrivileged = policy.isPrivileged(peer)
        let new = Seat(channel: channel, peer: peer, level: policy.level(peer), isPrivileged: isPrivileged)
        let (isTaken, displaced) = state.withLock { state -> (Bool, [any Channel]) in
            var displaced: [any Channel] = []
            func makeRoom(below limit: Int, among isCounted: (Seat) -> Bool) -> Bool {
                guard state.seats.values.count(where: isCounted) >= limit else { return true }
                guard let channel = Self.displace(from: &state.seats, among: isCounted) else { return false }
                displaced.append(channel)
                return true
            }
            let hasRoom =
                (isPrivileged
                    || makeRoom(below: limits.perUser) { $0.peer.user == peer.user }
                        && makeRoom(below: limits.total - limits.reserved) { !$0.isPrivileged })
                && makeRoom(below: limits.total) { _ in true }
            if hasRoom { state.seats[ObjectIdentifier(channel)] = new }
            state.peak = max(state.peak, state.seats.count)
            return (hasRoom, displaced)
        }
        for channel in displaced { channel.close(promise: nil) }
        return isTaken
    }

    /// The use of a connection changed.
    func use(_ channel: any Channel, for use: Use) {
        state.withLock { state in
            state.seats[ObjectIdentifier(channel)]?.use = use
            state.seats[ObjectIdentifier(channel)]?.since = .now()
        }
    }

    /// The connection is closed.
    func leave(_ channel: any Channel) {
        let trims = state.withLock { state in
            state.seats[ObjectIdentifier(channel)] = nil
            // judgement: what fewer connections leave behind is not worth the time
            guard state.peak >= 32, state.seats.count <= state.peak / 4 else { return false }
            state.peak = state.seats.count
            return true
        }
        guard trims else { return }
        channel.eventLoop.scheduleTask(in: Self.trimDelay) { clinux_trim_memory() }
    }

    /// The process has no descriptor left: whoever needs one least gives it up.
    ///
    /// - Returns: false when all are in use.
    func displaceOne() -> Bool {
        let channel = state.withLock { Self.displace(from: &$0.seats) { _ in true } }
        channel?.close(promise: nil)
        return channel != nil
    }

    /// Who opened the connection and what they may do; `nil` once it lost its seat.
    func user(of channel: any Channel) -> SeatUser? {
        state.withLock { state in
            state.seats[ObjectIdentifier(channel)].map {
                SeatUser(peer: $0.peer, level: $0.level, mostReaders: limits.readers(isPrivileged: $0.isPrivileged))
            }
        }
    }

    private static let trimDelay = TimeAmount.seconds(10)

    private static func displace(
        from seats: inout [ObjectIdentifier: Seat],
        among isCounted: (Seat) -> Bool
    ) -> (any Channel)? {
        let candidates = seats.filter { $0.value.use < .inUse && isCounted($0.value) }
        let least = candidates.min { ($0.value.use, $0.value.since) < ($1.value.use, $1.value.since) }
        return least.flatMap { seats.removeValue(forKey: $0.key)?.channel }
    }
}

/// The user of one connection.
struct SeatUser: Sendable {
    let peer: Peer
    /// `nil` for one who may do nothing.
    let level: AccessLevel?
    /// So many readers of the event stream this user may have.
    let mostReaders: Int
}

/// How many connections the control socket holds, depending on how many descriptors the process may open.
package struct SeatLimits: Sendable {
    let total: Int
    /// For root and the owner of the service alone.
    let reserved: Int
    /// Of each other user.
    let perUser: Int

    /// judgement: 256 readers of the event stream and half as many others
    package static let most = 384

    /// - Parameter total: at least 4.
    package init(total: Int) {
        self.total = total
        reserved = total / 4
        perUser = total / 3
    }

    /// As many as this process has descriptors for, beside as many again for its other work.
    package static func ofThisProcess() -> Self {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return Self(total: most) }
        let free = Int(clamping: limit.rlim_cur) - openDescriptors
        return Self(total: min(most, max(8, free / 2)))
    }

    private static var openDescriptors: Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }

    /// Two thirds of the seats that a user may have: the rest is left for requests.
    func readers(isPrivileged: Bool) -> Int {
        (isPrivileged ? total : perUser) * 2 / 3
    }
}
