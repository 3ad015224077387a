import BackgrounderAPI
import CLinux
import Glibc
import NIOCore
import Synchronization
import SystemSupport

/// The slots for connections of a server: it assigns them, and displaces connections when there are none left.
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
        let opener: ConnectionOpener
        /// The session of the page that sent the last request.
        var session: Int?
        var use = Use.unused
        /// Since when it is used in this way.
        var since = NIODeadline.now()
    }

    private struct State {
        var slots: [ObjectIdentifier: Slot] = [:]
        /// The most connections since memory was last returned to the system.
        var peak = 0
    }

    private let limits: ConnectionLimits
    private let state = Mutex(State())

    init(limits: ConnectionLimits) {
        self.limits = limits
    }

    /// Assigns a slot to the connection, displacing another one if necessary.
    ///
    /// - Returns: false if every slot that this opener may have is in use.
    func occupy(_ channel: any Channel, for opener: ConnectionOpener) -> Bool {
        let isPrivileged = opener.isPrivileged
        let new = Slot(channel: channel, opener: opener)
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
                    || makeRoom(below: limits.perOwner) { $0.opener.owner == opener.owner }
                        && makeRoom(below: limits.total - limits.reserved) { !$0.opener.isPrivileged })
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

    /// Returns the user who opened a connection, as the caller of its requests; `nil` once the connection lost its slot.
    func caller(on channel: any Channel) -> Caller? {
        state.withLock { state in
            guard let opener = state.slots[ObjectIdentifier(channel)]?.opener, case .user(let user) = opener.owner
            else {
                return nil
            }
            let mostReaders = limits.readers(isPrivileged: opener.isPrivileged)
            return Caller(identity: .user(user), level: opener.level, mostReaders: mostReaders)
        }
    }

    /// Notes that the session `id` uses a connection.
    ///
    /// - Returns: false if the connection lost its slot.
    func use(_ channel: any Channel, by id: Int) -> Bool {
        state.withLock { state in
            guard state.slots[ObjectIdentifier(channel)] != nil else { return false }
            state.slots[ObjectIdentifier(channel)]?.session = id
            return true
        }
    }

    /// Closes the connections that the sessions `ids` use.
    func close(usedBy ids: Set<Int>) {
        let channels = state.withLock { state in
            state.slots.values.filter { $0.session.map(ids.contains) ?? false }.map(\.channel)
        }
        for channel in channels { channel.close(promise: nil) }
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

/// The limits for connections of a server, which depend on how many descriptors the process may open.
package struct ConnectionLimits: Sendable {
    let total: Int
    /// Slots reserved for root and the service's user.
    let reserved: Int
    /// Slots per other user, or per host of the network.
    let perOwner: Int

    /// Tuned: 256 readers of the event stream and half as many other connections.
    package static let most = 384

    /// Creates limits for `total` connections, at least 4.
    package init(total: Int) {
        self.total = total
        reserved = total / 4
        perOwner = total / 3
    }

    /// Returns limits that use half of the descriptors of this process.
    package static func ofThisProcess() -> Self {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return Self(total: most) }
        let free = Int(clamping: limit.rlim_cur) - OpenDescriptors.count
        return Self(total: min(most, max(8, free / 2)))
    }

    /// Returns limits for the page's server: a third of those of the control socket.
    package static func ofPage() -> Self {
        Self(total: max(6, ofThisProcess().total / 3))
    }

    /// Returns two thirds of the slots that a user may have; the rest is left for requests.
    func readers(isPrivileged: Bool) -> Int {
        (isPrivileged ? total : perOwner) * 2 / 3
    }
}
