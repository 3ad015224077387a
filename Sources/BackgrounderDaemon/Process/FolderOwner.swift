import Glibc
import SystemSupport

/// Lets root work on the state of the service's user with the rights of that user, who could otherwise lead root elsewhere by links.
enum FolderOwner {
    /// As root, continues as the owner of the state folder, if that is another user.
    ///
    /// The unit's folder for sockets and locks does not exist while the unit is stopped, and only root can create it.
    static func become(of paths: RuntimePaths) throws(StartError) {
        var folder = stat()
        guard geteuid() == 0, lstat(paths.state, &folder) == 0, folder.st_mode & S_IFMT == S_IFDIR, folder.st_uid != 0
        else { return }
        if isRootsAlone(parent(of: paths.run)), mkdir(paths.run, 0o700) == 0 {
            lchown(paths.run, folder.st_uid, folder.st_gid)
        }
        let hasGroups =
            if let user = getpwuid(folder.st_uid) {
                initgroups(user.pointee.pw_name, folder.st_gid)
            } else {
                setgroups(0, nil)
            }
        guard hasGroups == 0, setgid(folder.st_gid) == 0, setuid(folder.st_uid) == 0 else {
            throw StartError(
                "cannot become the owner of \(paths.state): \(systemMessage(errno)); run this command as user "
                    + "\(folder.st_uid)"
            )
        }
    }

    /// Whether no other user can put something in place of an entry of the folder.
    private static func isRootsAlone(_ folder: String) -> Bool {
        do {
            try TrustedPath.require(folder)
            return true
        } catch {
            return false
        }
    }

    private static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "/"
    }
}
