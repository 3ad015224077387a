import BackgrounderAPI
import FoundationEssentials
import Glibc

extension RuntimePaths {
    /// Makes the directories of the service: 0700, and a home that is there already is left as it is.
    ///
    /// - Throws: ``StartError`` also where another user could change one of them, or a file that is written here is a symbolic link.
    func makeDirectories() throws(StartError) {
        for path in [state, run, log] { try TrustedPath.require(path) }
        // SQLite follows links, so that its files are looked at here.
        for path in [log, database, database + "-wal", database + "-shm"] { try TrustedPath.requireNoLink(path) }
        if let home { try Self.make(home) }
        for directory in [state, run] { try Self.make(directory) }
        guard access(state, W_OK | X_OK) == 0, access(run, W_OK | X_OK) == 0 else {
            throw StartError(
                "cannot write in \(access(state, W_OK | X_OK) == 0 ? run : state): give a folder that can be written with --home"
            )
        }
        // `sockaddr_un` has 108 bytes, the last of which is the end of the string.
        let length = controlSocket.utf8.count
        guard length <= 107 else {
            throw StartError(
                "the socket path \(controlSocket) has \(length) bytes, and 107 is the most: give a shorter --home"
            )
        }
    }

    /// Closes the directories to others, where they were there before; to be called by the one service that has the lock.
    func closeDirectories() {
        // A directory that is not ours is as its owner wants it.
        for directory in [state, run] { chmod(directory, 0o700) }
    }

    private static func make(_ path: String) throws(StartError) {
        var isDirectory = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
            guard isDirectory else { throw StartError("\(path) is no folder: give another --home") }
            return
        }
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw StartError("cannot make \(path): \(error.reason); give a folder that can be written with --home")
        }
    }
}

/// Why the service does not start, on one line.
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
