import BackgrounderAPI
import FoundationEssentials
import GRDB
import Glibc
import SystemSupport

/// Copies the database to a single file while it is in use, and restores such a copy while it is not.
package enum Backup {
    /// The contents of a copy.
    package struct Summary: Hashable, Sendable {
        package var points: Int
        package var trips: Int
        /// Bytes.
        package var size: Int
        /// A summary of the rows salvaged from a damaged database; `nil` if the database was intact.
        package var salvage: String?
    }

    /// Writes a copy of the database at `path` to the new file `file`, checks it and syncs it.
    ///
    /// Blocks. Other processes may use the database meanwhile. A damaged database is copied as far as it can be read.
    package static func write(from path: String, to file: String) throws(BackupError) -> Summary {
        guard FileManager.default.fileExists(atPath: path) else { throw .noDatabase(path: path) }
        guard !FileManager.default.fileExists(atPath: file) else { throw .exists(file: file) }
        let partial = file + ".partial"
        unlink(partial)
        defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(partial + suffix) } }
        do {
            var salvage: Salvage?
            try make(partial)
            do {
                try copy(path, to: partial)
            } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
                unlink(partial)
                try make(partial)
                let new = try StateStore.open(partial)
                salvage = Salvage(from: path, into: new)
                try new.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
                try new.close()
            }
            var summary = try check(partial, named: file)
            summary.salvage = salvage?.summary
            try sync(partial)
            // Unlike rename(2), link(2) never replaces a file that another process has just created.
            guard link(partial, file) == 0 else {
                if errno == EEXIST { throw BackupError.exists(file: file) }
                throw BackupError.failed(file: file, reason: systemMessage(errno))
            }
            try sync(file + "/..")
            return summary
        } catch let error as BackupError {
            throw error
        } catch {
            throw .failed(file: file, reason: reason(error))
        }
    }

    /// Replaces the database at `path` with the copy `file`, and sets the previous database aside.
    ///
    /// Blocks. No process may use the database. The copy is checked before anything is changed.
    ///
    /// - Returns: the contents of the copy, and the new path of the previous database, if there was one.
    package static func restore(_ file: String, to path: String) throws(BackupError) -> (
        summary: Summary, aside: String?
    ) {
        try requireReadable(file)
        let partial = path + ".restoring"
        unlink(partial)
        defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(partial + suffix) } }
        do {
            try FileManager.default.copyItem(atPath: file, toPath: partial)
            chmod(partial, 0o600)
            let summary = try check(partial, named: file)
            try sync(partial)
            let aside = try StateStore.moveAside(path, as: "before-restore")
            guard rename(partial, path) == 0 else {
                throw BackupError.failed(file: file, reason: systemMessage(errno))
            }
            try sync(path + "/..")
            return (summary, aside)
        } catch let error as BackupError {
            throw error
        } catch let error as DatabaseError where error.resultCode == .SQLITE_NOTADB {
            throw .foreign(file: file)
        } catch {
            throw .failed(file: file, reason: reason(error))
        }
    }

    /// Checks that `file` is a file, neither a folder nor a pipe, and may be read.
    private static func requireReadable(_ file: String) throws(BackupError) {
        let descriptor = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw errno == ENOENT ? .noFile(file: file) : .unreadable(file: file, reason: systemMessage(errno))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .foreign(file: file) }
    }

    /// Creates a file that only its owner can read.
    private static func make(_ file: String) throws {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BackupError.failed(file: file, reason: systemMessage(errno)) }
        close(descriptor)
    }

    /// Copies the database with a single statement, which SQLite executes on the state at its start, and settles the copy.
    private static func copy(_ path: String, to file: String) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? database.close() }
        try database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [file]) }
        let copy = try DatabaseQueue(path: file)
        defer { try? copy.close() }
        // A database of an earlier version has no recent points.
        try copy.write { if try $0.tableExists("recentLocation") { try $0.settleRecentPoints() } }
    }

    /// Checks every page and index of the copy, which no other process uses. Errors name it `name`.
    private static func check(_ file: String, named name: String) throws -> Summary {
        var configuration = Configuration()
        configuration.readonly = true
        let database = try DatabaseQueue(path: file, configuration: configuration)
        defer { try? database.close() }
        return try database.read { database in
            let applied = try Schema.migrator.appliedIdentifiers(database)
            guard !applied.isEmpty else { throw BackupError.foreign(file: name) }
            guard try !Schema.migrator.hasBeenSuperseded(database) else { throw BackupError.newer(file: name) }
            let report = try String.fetchOne(database, sql: "PRAGMA integrity_check")
            guard report == "ok" else { throw BackupError.damaged(file: name, report: report ?? "no answer") }
            let hasTrips = applied.contains { $0.hasPrefix("2 ") }
            let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
            return Summary(
                points: try Int.fetchOne(database, sql: "SELECT count(*) FROM location") ?? 0,
                trips: hasTrips ? try Int.fetchOne(database, sql: "SELECT count(*) FROM trip") ?? 0 : 0,
                size: size ?? 0
            )
        }
    }

    /// Syncs a file, or a folder with its entries.
    private static func sync(_ path: String) throws {
        let folder =
            path.hasSuffix("/..") ? URL(filePath: String(path.dropLast(3))).deletingLastPathComponent().path : path
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BackupError.failed(file: folder, reason: systemMessage(errno)) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw BackupError.failed(file: folder, reason: systemMessage(errno))
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as DatabaseError: error.message ?? "SQLite error \(error.resultCode.rawValue)"
        case let error as CocoaError:
            (error.underlying as? POSIXError).map { systemMessage($0.code.rawValue) } ?? "\(error)"
        default: "\(error)"
        }
    }
}

/// An error of a backup or restore.
package enum BackupError: Error, Hashable, CustomStringConvertible {
    case noDatabase(path: String)
    case noFile(file: String)
    case unreadable(file: String, reason: String)
    case exists(file: String)
    /// The file is not a Backgrounder database.
    case foreign(file: String)
    /// A later version of Backgrounder wrote the file.
    case newer(file: String)
    case damaged(file: String, report: String)
    case failed(file: String, reason: String)

    package var description: String {
        switch self {
        case .noDatabase(let path): "no database at \(path); start the service first, or use another --home"
        case .noFile(let file): "cannot open \(file): no such file; name a file that `backgrounder backup` wrote"
        case .unreadable(let file, let reason):
            "cannot read \(file): \(reason); let the owner of the state folder read it"
        case .exists(let file): "\(file) already exists; name a new file"
        case .foreign(let file):
            "\(file) is not a Backgrounder database; name a file that `backgrounder backup` wrote"
        case .newer(let file):
            "\(file) was written by a later version of Backgrounder; install that version, or name another file"
        case .damaged(let file, let report): "\(file) is damaged (\(report)); name another copy"
        case .failed(let file, let reason):
            "cannot copy the database: \(file): \(reason); check the folder's mode and the free space"
        }
    }
}
