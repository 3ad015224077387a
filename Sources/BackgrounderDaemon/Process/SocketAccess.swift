import BackgrounderAPI
import Glibc
import Logging

/// Who may use the control socket: the service's user, and a group where the configuration names one.
///
/// The mode is right from the socket's birth, since it is bound under a narrow umask in a directory that only opens to the
/// group when the socket has it.
struct SocketAccess: Sendable {
    private let group: gid_t?

    /// - Throws: where there is no group of this name.
    init(group name: String?) throws(StartError) {
        guard let name else {
            group = nil
            return
        }
        guard let entry = getgrnam(name) else {
            throw StartError(
                "control.group: there is no group \(name.debugDescription); make it with groupadd, or take the key away"
            )
        }
        group = entry.pointee.gr_gid
    }

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
