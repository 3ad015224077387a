import FoundationEssentials
import Glibc

/// Rejects files and folders that another user could have prepared, or could change while the service runs, as OpenSSH's
/// `StrictModes` does (sshd_config(5)).
enum TrustedPath {
    /// Checks `path`, as far as it exists, and every folder and symbolic link on the way to it.
    ///
    /// - Throws: ``StartError`` unless each belongs to root or to this user and is not writable by others. Folders with the sticky bit,
    ///   such as /tmp, are accepted on the way: others cannot change foreign files in them.
    static func require(_ path: String) throws(StartError) {
        try closeIfEmpty(path)
        try requireAll(on: path)
        // The targets of links are checked, too.
        var existing = path
        while existing != "/" {
            if let resolved = realpath(existing, nil) {
                defer { free(resolved) }
                let target = String(cString: resolved)
                return target == existing ? () : try requireAll(on: target)
            }
            existing = parent(of: existing)
        }
    }

    /// Checks that `path`, a file that the service writes, is not a symbolic link.
    ///
    /// - Throws: ``StartError`` if it is.
    static func requireNoLink(_ path: String) throws(StartError) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return }
        throw StartError("\(path.debugDescription) is a symbolic link, which is not followed; remove it")
    }

    /// Sets the mode of an empty folder of this user to 0700, for example of a file system that was just mounted.
    private static func closeIfEmpty(_ path: String) throws(StartError) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
            status.st_mode & 0o022 != 0
        else { return }
        // Closed before its content is checked, so that nothing can be added in between.
        chmod(path, 0o700)
        let content = try? FileManager.default.contentsOfDirectory(atPath: path)
        if content?.isEmpty != true { chmod(path, status.st_mode & 0o7777) }
    }

    private static func requireAll(on path: String) throws(StartError) {
        var part = path
        while true {
            try require(part, isTarget: part == path)
            if part == "/" { return }
            part = parent(of: part)
        }
    }

    /// Returns the parent of an absolute path.
    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private static func require(_ path: String, isTarget: Bool) throws(StartError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        let name = path.debugDescription
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw StartError(
                "\(name) belongs to user \(status.st_uid), who could change files of the service; use a folder of root or of this user"
            )
        }
        let kind = status.st_mode & S_IFMT
        let isSticky = kind == S_IFDIR && status.st_mode & S_ISVTX != 0 && !isTarget
        guard kind == S_IFLNK || isSticky || status.st_mode & 0o022 == 0 else {
            throw StartError(
                "other users can write to \(name) (mode \(String(status.st_mode & 0o7777, radix: 8))); run chmod go-w on it"
            )
        }
    }
}
