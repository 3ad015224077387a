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
        // SQLite follows links, so its files are checked here.
        for path in [log, database, database + "-wal", database + "-shm"] { try TrustedPath.requireNoLink(path) }
        if let home { try Self.make(home) }
        for directory in [state, run] { try Self.make(directory) }
        for directory in [state, run] where access(directory, W_OK | X_OK) != 0 {
            let reason = systemMessage(errno)
            throw StartError(
                "cannot write to \(directory): \(reason); check its mode, or name a writable folder with --home"
            )
        }
        // `sockaddr_un` has 108 bytes, including the terminating NUL.
        let length = controlSocket.utf8.count
        guard length <= 107 else {
            throw StartError(
                "the socket path \(controlSocket) has \(length) bytes, more than 107; use a shorter --home"
            )
        }
    }

    /// Sets the mode of existing folders to 0700. Only the service that holds the lock may call it.
    func closeDirectories() {
        // This fails for a folder of another user, which stays as its owner wants it.
        for directory in [state, run] { chmod(directory, 0o700) }
    }

    private static func make(_ path: String) throws(StartError) {
        var isDirectory = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
            guard isDirectory else { throw StartError("\(path) is not a folder; use another --home") }
            return
        }
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
