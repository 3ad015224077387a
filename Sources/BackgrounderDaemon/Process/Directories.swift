import FoundationEssentials
import Glibc
import SystemSupport

extension RuntimePaths {
    /// Creates the folders of the service with mode 0700; the mode of an existing home is not changed.
    ///
    /// - Throws: ``StartError`` if a folder cannot be created or written, another user could change it, or a file in it is a
    ///   symbolic link.
    func makeDirectories() throws(StartError) {
        for path in [state, run, log] { try TrustedPath.require(path) }
        try requireNoLinks()
        if let home { try Self.make(home) }
        for directory in [state, run] { try Self.make(directory) }
        for directory in [state, run] { try Self.requireWritable(directory) }
        try requireShortSocket()
    }

    /// Checks what ``makeDirectories()`` needs for the state folder, and creates nothing.
    func checkState() throws(StartError) {
        for path in [state, log] { try TrustedPath.require(path) }
        try requireNoLinks()
        try Self.check(state)
    }

    /// Checks what ``makeDirectories()`` needs for the folder of the sockets, and creates nothing.
    func checkRun() throws(StartError) {
        try TrustedPath.require(run)
        try Self.check(run)
        try requireShortSocket()
    }

    /// Returns `path`, or the nearest folder above it that exists or that this user may not look into.
    static func existing(_ path: String) -> String {
        var path = path
        while access(path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR, path != "/" {
            path = RuntimePaths.absolute(path + "/..")
        }
        return path
    }

    /// SQLite follows links, so its files are checked here.
    private func requireNoLinks() throws(StartError) {
        for path in [log, database, database + "-wal", database + "-shm"] { try TrustedPath.requireNoLink(path) }
    }

    /// `sockaddr_un` has 108 bytes, including the terminating NUL.
    private func requireShortSocket() throws(StartError) {
        let length = controlSocket.utf8.count
        guard length <= 107 else {
            throw StartError(
                "the socket path \(controlSocket) has \(length) bytes, more than 107; use a shorter --home"
            )
        }
    }

    private static func requireWritable(_ directory: String) throws(StartError) {
        guard access(directory, W_OK | X_OK) != 0 else { return }
        let code = errno
        let remedy = code == EROFS ? "mount its file system writable" : "check its mode"
        throw StartError(
            "cannot write to \(directory): \(systemMessage(code)); \(remedy), or name a writable folder with --home"
        )
    }

    /// Checks that the folder can be written, or created.
    private static func check(_ path: String) throws(StartError) {
        let existing = existing(path)
        try requireFolder(existing)
        try requireWritable(existing)
    }

    private static func requireFolder(_ path: String) throws(StartError) {
        var isDirectory = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory else { return }
        throw StartError("\(path) is not a folder; use another --home")
    }

    /// Sets the mode of existing folders to 0700. Only the service that holds the lock may call it.
    func closeDirectories() {
        // This fails for a folder of another user, which stays as its owner wants it.
        for directory in [state, run] { chmod(directory, 0o700) }
    }

    private static func make(_ path: String) throws(StartError) {
        if FileManager.default.fileExists(atPath: path) { return try requireFolder(path) }
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw StartError("cannot create \(path): \(error.reason); name a writable folder with --home")
        }
    }
}

/// Why the service cannot start, on one line.
struct StartError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension Error {
    var reason: String {
        let underlying = (self as? CocoaError)?.underlying as? POSIXError
        return underlying.map { systemMessage($0.code.rawValue) } ?? String(describing: self)
    }
}
