package import BackgrounderAPI
import CLinux
import Glibc

/// The user who opened a connection, as recorded by the kernel (unix(7), `SO_PEERCRED` and `SO_PEERGROUPS`). Later changes of the
/// process do not count.
package struct Peer: Hashable, Sendable {
    package let user: UInt32
    /// The primary group and the supplementary ones.
    package let groups: Set<UInt32>

    /// Creates a peer.
    package init(user: UInt32, groups: Set<UInt32>) {
        self.user = user
        self.groups = groups
    }

    /// Reads the peer of a connected Unix socket; returns `nil` if the kernel does not know it.
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

/// The rights of users over the socket.
package struct AccessPolicy: Sendable {
    private let owner: UInt32
    private let level: @Sendable (Peer) -> AccessLevel?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - owner: the user who has every right, besides root.
    ///   - level: returns the right of any other peer, or `nil`; called once per connection, on an event loop.
    package init(owner: UInt32, level: @escaping @Sendable (Peer) -> AccessLevel? = { _ in nil }) {
        (self.owner, self.level) = (owner, level)
    }

    /// Returns the rights of a peer.
    func opener(_ peer: Peer) -> ConnectionOpener {
        let isPrivileged = peer.user == 0 || peer.user == owner
        return ConnectionOpener(
            owner: .user(peer.user),
            level: isPrivileged ? .execute : level(peer),
            isPrivileged: isPrivileged
        )
    }
}
