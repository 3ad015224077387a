import FoundationEssentials
import GRDB
import Glibc

/// A copy of the database from before a new version changed its tables, kept until the new version has worked for a
/// week.
struct MigrationCopy: Codable, Hashable, Sendable {
    var path: String
    /// The time since which the storage has had no problems: milliseconds since 1970, trusted time. `nil` until that is
    /// known.
    var goodSince: Int64?

    // Tuned: a user who returns to the old version does so within days.
    private static let goodTime: Int64 = 7 * 86_400_000

    /// Copies the database if it has tables of an earlier version.
    ///
    /// - Throws: `DatabaseError`, for example if the disk is full.
    static func make(of database: DatabaseQueue, at path: String) throws -> MigrationCopy? {
        let migrator = Schema.migrator
        let version = try database.read { database in
            try migrator.hasCompletedMigrations(database) ? 0 : try migrator.appliedIdentifiers(database).count
        }
        guard version > 0 else { return nil }
        let copy = MigrationCopy(path: "\(path).version-\(version)")
        unlink(copy.path)
        let descriptor = open(copy.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
        do {
            try database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [copy.path]) }
        } catch {
            unlink(copy.path)
            throw error
        }
        return copy
    }

    /// Updates ``goodSince``: a storage problem restarts the week.
    ///
    /// - Returns: whether a week without problems is over.
    fileprivate mutating func review(now: Int64, isWell: Bool) -> Bool {
        guard isWell, let goodSince, goodSince <= now else {
            goodSince = isWell ? now : nil
            return false
        }
        return now - goodSince >= Self.goodTime
    }
}

extension Database {
    private static let copyState = "migration.copy"

    func save(_ copy: MigrationCopy) throws {
        try save(StateRecord(name: Self.copyState, value: try JSONEncoder().encode(copy)))
    }

    /// Updates the record of the copy, and removes the record once the copy is no longer needed.
    ///
    /// - Returns: the copy to delete, or `nil`.
    func reviewMigrationCopy(now: Int64, isWell: Bool) throws -> MigrationCopy? {
        let sql = "SELECT value FROM state WHERE name = ?"
        guard let value = try Data.fetchOne(self, sql: sql, arguments: [Self.copyState]),
            var copy = try? JSONDecoder().decode(MigrationCopy.self, from: value)
        else { return nil }
        let isOver = copy.review(now: now, isWell: isWell)
        guard !isOver else {
            try execute(sql: "DELETE FROM state WHERE name = ?", arguments: [Self.copyState])
            return copy
        }
        try save(copy)
        return nil
    }
}
