import BackgrounderAPI
import ControlServer
import Glibc
import Logging

/// Who may use the control socket, and for what: root and the service's user for everything, the members of `control.group` to read
/// and control, and those of them that `control.execute` names to execute, too.
///
/// The mode is right from the socket's birth, since it is bound under a narrow umask in a directory that only opens to the
/// group when the socket has it.
struct SocketAccess: Sendable {
    private let group: gid_t?
    private let executingUsers: Set<uid_t>
    private let executingGroups: Set<gid_t>

    /// - Parameter executing: names of users and groups.
    /// - Throws: where there is no group or user of such a name.
    init(group name: String?, executing names: [String]) throws(StartError) {
        group = try name.map { name throws(StartError) in
            guard let group = Self.group(name) else {
                throw StartError(
                    "control.group: there is no group \(name.debugDescription); make it with groupadd, or remove the key"
                )
            }
            return group
        }
        var users: Set<uid_t> = []
        var groups: Set<gid_t> = []
        for name in names {
            let user = getpwnam(name)?.pointee.pw_uid
            let group = Self.group(name)
            guard user != nil || group != nil else {
                throw StartError(
                    "control.execute: there is no user and no group \(name.debugDescription); correct the name, or remove it"
                )
            }
            if let user { users.insert(user) }
            if let group { groups.insert(group) }
        }
        (executingUsers, executingGroups) = (users, groups)
    }

    /// What the socket's server goes by.
    var policy: AccessPolicy {
        AccessPolicy(owner: geteuid()) { [self] peer in
            if executingUsers.contains(peer.user) || !executingGroups.isDisjoint(with: peer.groups) { return .execute }
            return group.map(peer.groups.contains) == true ? .control : nil
        }
    }

    private static func group(_ name: String) -> gid_t? { getgrnam(name)?.pointee.gr_gid }

    /// Before the socket is bound.
    func prepare() {
        umask(group == nil ? 0o177 : 0o117)
    }

    /// After it was bound.
    func opened(_ paths: RuntimePaths, logger: Logger) {
        umask(0o077)
        guard let group else { return }
        guard paths.sockets.allSatisfy({ chown($0, uid_t.max, group) == 0 }), chown(paths.run, uid_t.max, group) == 0,
            chmod(paths.run, 0o750) == 0
        else {
            logger.error("control.group: the socket cannot be given to the group: \(systemMessage(errno))")
            return
        }
    }
}
