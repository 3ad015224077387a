import BackgrounderAPI
import CLinux
import Glibc
import NIOCore
import Synchronization

/// The slots for connections of the control socket: it assigns them, and displaces connections when there are none left.
///
/// Any thread; it closes connections without waiting.
final class ConnectionSlots: Sendable {
    /// How a connection is used. Only connections that are not in use are displaced, unused ones first, then idle ones.
    enum Use: Int, Comparable {
        /// No whole request has arrived yet.
        case unused
        /// Its requests have been answered.
        case idle
        case inUse

        static func < (a: Use, b: Use) -> Bool { a.rawValue < b.rawValue }
    }

    private struct Slot {
        let channel: any Channel
        let peer: Peer
        let level: AccessLevel?
        let isPrivileged: Bool
        var use = Use.unused
        /// Since when it is used in this way.
        var since = NIODeadline.now()
    }

    private struct State {
        var slots: [ObjectIdentifier: Slot] = [:]
        /// The most connections since memory was last returned to the system.
        var peak = 0
    }

    private let policy: AccessPolicy
    private let limits: ConnectionLimits
    private let state = Mutex(State())

    init(policy: AccessPolicy, limits: ConnectionLimits) {
        self.policy = policy
        self.limits = limits
    }

    /// Assigns a slot to the connection, displacing another one if necessary.
    ///
    /// - Returns: false if every slot that this peer may have is in use.
    func occupy(_ channel: any Channel, for peer: Peer) -> Bool {
        let isPrivileged = policy.isPrivileged(peer)
        let new = Slot(channel: channel, peer: peer, level: policy.level(peer), isPrivileged: isPrivileged)
        let (isTaken, displaced) = state.withLock { state -> (Bool, [any Channel]) in
            var displaced: [any Channel] = []
            func makeRoom(below limit: Int, among isCounted: (Slot) -> Bool) -> Bool {
                guard state.slots.values.count(where: isCounted) >= limit else { return true }
                guard let channel = Self.displace(from: &state.slots, among: isCounted) else { return false }
                displaced.append(channel)
                return true
            }
            let hasRoom =
                (isPrivileged
                    || makeRoom(below: limits.perUser) { $0.peer.user == peer.user }
                        && makeRoom(below: limits.total - limits.reserved) { !$0.isPrivileged })
                && makeRoom(below: limits.total) { _ in true }
            if hasRoom { state.slots[ObjectIdentifier(channel)] = new }
            state.peak = max(state.peak, state.slots.count)
            return (hasRoom, displaced)
        }
        for channel in displaced { channel.close(promise: nil) }
        return isTaken
    }

    /// Changes the use of a connection.
    func use(_ channel: any Channel, for use: Use) {
        state.withLock { state in
            state.slots[ObjectIdentifier(channel)]?.use = use
            state.slots[ObjectIdentifier(channel)]?.since = .now()
        }
    }

    /// Releases the slot of a closed connection.
    func leave(_ channel: any Channel) {
        let trims = state.withLock { state in
            state.slots[ObjectIdentifier(channel)] = nil
            // Tuned: the memory of fewer connections is not worth the time.
            guard state.peak >= 32, state.slots.count <= state.peak / 4 else { return false }
            state.peak = state.slots.count
            return true
        }
        guard trims else { return }
        channel.eventLoop.scheduleTask(in: Self.trimDelay) { clinux_trim_memory() }
    }

    /// Displaces one connection because the process has no descriptor left.
    ///
    /// - Returns: false if all are in use.
    func displaceOne() -> Bool {
        let channel = state.withLock { Self.displace(from: &$0.slots) { _ in true } }
        channel?.close(promise: nil)
        return channel != nil
    }

    /// Returns the user of a connection and its rights; `nil` once it lost its slot.
    func user(of channel: any Channel) -> ConnectedUser? {
        state.withLock { state in
            state.slots[ObjectIdentifier(channel)].map {
                ConnectedUser(
                    peer: $0.peer,
                    level: $0.level,
                    mostReaders: limits.readers(isPrivileged: $0.isPrivileged)
                )
            }
        }
    }

    private static let trimDelay = TimeAmount.seconds(10)

    private static func displace(
        from slots: inout [ObjectIdentifier: Slot],
        among isCounted: (Slot) -> Bool
    ) -> (any Channel)? {
        let candidates = slots.filter { $0.value.use < .inUse && isCounted($0.value) }
        let least = candidates.min { ($0.value.use, $0.value.since) < ($1.value.use, $1.value.since) }
        return least.flatMap { slots.removeValue(forKey: $0.key)?.channel }
    }
}

/// The user of one connection.
struct ConnectedUser: Sendable {
    let peer: Peer
    /// `nil` for a user without rights.
    let level: AccessLevel?
    /// The number of event readers that this user may have.
    let mostReaders: Int
}

/// The limits for connections of the control socket, which depend on how many descriptors the process may open.
package struct ConnectionLimits: Sendable {
    let total: Int
    /// Slots reserved for root and the service's user.
    let reserved: Int
    /// Slots per other user.
    let perUser: Int

    /// Tuned: 256 readers of the event stream and half as many other connections.
    package static let most = 384

    /// Creates limits for `total` connections, at least 4.
    package init(total: Int) {
        self.total = total
        reserved = total / 4
        perUser = total / 3
    }

    /// Returns limits that use half of the descriptors of this process.
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

    /// Returns two thirds of the slots that a user may have; the rest is left for requests.
    func readers(isPrivileged: Bool) -> Int {
        (isPrivileged ? total : perUser) * 2 / 3
    }
}
