import GRDB

extension DatabaseQueue {
    /// Releases free pages of the file to the file system, and truncates the log, which holds copies of older pages.
    /// Works in small steps, between which writers get their turn.
    ///
    /// - Parameter keeping: the number of free pages to keep for future writes.
    /// - Throws: `DatabaseError`, for example while another program reads the file.
    func releaseFreePages(keeping: Int) async throws {
        while try await write({ try $0.releaseSomePages(keeping: keeping) }) {}
        try await writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }
}

extension Database {
    // Tuned: releasing this many pages takes a few milliseconds.
    private static let step = 256

    /// The size of the file without its free pages, in bytes.
    var usedSize: Int {
        get throws { try (pragma("page_count") - pragma("freelist_count")) * pragma("page_size") }
    }

    /// The number of free pages to keep after a purge, about as many as a day of points needs: 4 MB or a sixteenth of
    /// the file, the larger of the two.
    var freePagesWorthKeeping: Int {
        get throws { try max(1024, pragma("page_count") / 16) }
    }

    /// Releases one step of free pages.
    ///
    /// - Returns: whether there are more to release.
    fileprivate func releaseSomePages(keeping: Int) throws -> Bool {
        let free = try pragma("freelist_count") - keeping
        // 2 is INCREMENTAL. A large file of a version without it keeps its size; see prepareForRelease().
        guard free > 0, try pragma("auto_vacuum") == 2 else { return false }
        try execute(sql: "PRAGMA incremental_vacuum(\(min(free, Self.step)))")
        return free > Self.step
    }

    /// Rebuilds a file from a version that could not release pages, unless the file is too large to rebuild in a second
    /// or two.
    func prepareForRelease() throws {
        guard try pragma("auto_vacuum") == 0, try usedSize <= Self.largestRearranged else { return }
        try execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
    }

    private static let largestRearranged = 128 << 20

    private func pragma(_ name: String) throws -> Int { try Int.fetchOne(self, sql: "PRAGMA \(name)") ?? 0 }
}
