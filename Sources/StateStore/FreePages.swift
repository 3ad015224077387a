import GRDB

/// The pages of the database file that nothing uses.
extension DatabaseQueue {
    /// Gives free pages back to the file system, in small steps between which writers get their turn, and empties the log, which
    /// holds copies of older pages.
    ///
    /// - Parameter keeping: so many stay for what comes next.
    /// - Throws: `DatabaseError`, also while another program reads the file.
    func releaseFreePages(keeping: Int) async throws {
        while try await write({ try $0.releaseSomePages(keeping: keeping) }) {}
        try await writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }
}

extension Database {
    // Tuned: some milliseconds.
    private static let step = 256

    /// The file, without pages that nothing uses: bytes.
    var usedSize: Int {
        get throws { try (pragma("page_count") - pragma("freelist_count")) * pragma("page_size") }
    }

    /// After a purge as many free pages stay as a day or so of points needs: 4 MB, or a sixteenth of the file.
    var freePagesWorthKeeping: Int {
        get throws { try max(1024, pragma("page_count") / 16) }
    }

    /// - Returns: whether there are more.
    fileprivate func releaseSomePages(keeping: Int) throws -> Bool {
        let free = try pragma("freelist_count") - keeping
        // A file that was made before pages could be released keeps its size; see prepareForRelease.
        guard free > 0, try pragma("auto_vacuum") == 2 else { return false }
        try execute(sql: "PRAGMA incremental_vacuum(\(min(free, Self.step)))")
        return free > Self.step
    }

    /// Rearranges a file of a version that could not release pages, if that takes no more than a second or two.
    func prepareForRelease() throws {
        guard try pragma("auto_vacuum") == 0, try usedSize <= Self.largestRearranged else { return }
        try execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
    }

    private static let largestRearranged = 128 << 20

    private func pragma(_ name: String) throws -> Int { try Int.fetchOne(self, sql: "PRAGMA \(name)") ?? 0 }
}
