package import BackgrounderAPI
import CLinux
import Glibc

/// The user who opened a connection, as the kernel noted it (unix(7), `SO_PEERCRED` and `SO_PEERGROUPS`). What the process changes
/// about itself later does not count.
package struct Peer: Hashable, Sendable {
    package let user: UInt32
    /// The primary group and the supplementary ones.
    package let groups: Set<UInt32>

    package init(user: UInt32, groups: Set<UInt32>) {
        self.user = user
        self.groups = groups
    }

    /// - Parameter socket: a connected Unix socket.
    /// - Returns: `nil` where the kernel does not say.
    init?(socket: CInt) {
        var user: uid_t = 0
        var group: gid_t = 0
        guard clinux_peer(socket, &user, &group) == 0 else { return nil }
        var groups: [gid_t] = []
        while case let count = clinux_peer_groups(socket, &groups, CInt(groups.count)), count > groups.count {
            groups = Array(repeating: 0, count: Int(count))
        }
        self.init(user: user, groups: Set(groups + [group]))
    }
}

/// Who may do what over the socket.
package struct AccessPolicy: Sendable {
    /// Has every right, and seats that nobody else gets.
    let isPrivileged: @Sendable (Peer) -> Bool
    /// The highest level of a peer; `nil` for one that may do nothing.
    let level: @Sendable (Peer) -> AccessLevel?

    /// - Parameters:
    ///   - owner: the user who has every right, beside root.
    ///   - level: the highest level of any other peer, or `nil`; called once for each connection, on an event loop.
    package init(owner: UInt32, level: @escaping @Sendable (Peer) -> AccessLevel? = { _ in nil }) {
        let isPrivileged: @Sendable (Peer) -> Bool = { $0.user == 0 || $0.user == owner }
        self.isPrivileged = isPrivileged
        self.level = { isPrivileged($0) ? .execute : level($0) }
    }
}
