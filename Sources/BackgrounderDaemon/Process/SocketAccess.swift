import BackgrounderAPI
import ControlServer
import Glibc
import Logging
import SystemSupport

/// The access to the control socket. Root and the service's user may do everything; members of `control.group` may read and control,
/// and those that `control.execute` names may also execute.
///
/// The sockets never have a wider mode than intended: they are bound under the umask 077, and their folder opens to the group
/// only after they have their mode.
struct SocketAccess: Sendable {
    private let group: gid_t?
    private let executingUsers: Set<uid_t>
    private let executingGroups: Set<gid_t>

    /// Resolves the names.
    ///
    /// - Parameter executing: names of users and groups.
    /// - Throws: ``StartError`` if a group or user does not exist.
    init(group name: String?, executing names: [String]) throws(StartError) {
        group = try name.map { name throws(StartError) in
            guard let group = Self.group(name) else {
                throw StartError(
                    "control.group: no group \(name.debugDescription); create it with groupadd, or remove the key"
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
                    "control.execute: no user or group \(name.debugDescription); correct the name, or remove it"
                )
            }
            if let user { users.insert(user) }
            if let group { groups.insert(group) }
        }
        (executingUsers, executingGroups) = (users, groups)
    }

    /// The policy for the server.
    var policy: AccessPolicy {
        AccessPolicy(owner: geteuid()) { [self] peer in
            if executingUsers.contains(peer.user) || !executingGroups.isDisjoint(with: peer.groups) { return .execute }
            return group.map(peer.groups.contains) == true ? .control : nil
        }
    }

    private static func group(_ name: String) -> gid_t? { getgrnam(name)?.pointee.gr_gid }

    /// Sets the mode of the sockets, and opens them to the group. Call it after they were bound.
    func opened(_ paths: RuntimePaths, logger: Logger) {
        for socket in paths.sockets { chmod(socket, group == nil ? 0o600 : 0o660) }
        guard let group else { return }
        guard paths.sockets.allSatisfy({ chown($0, uid_t.max, group) == 0 }), chown(paths.run, uid_t.max, group) == 0,
            chmod(paths.run, 0o750) == 0
        else {
            logger.error("control.group: cannot give the socket to the group: \(systemMessage(errno))")
            return
        }
    }
}
