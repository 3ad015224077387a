package import BackgrounderAPI
package import FoundationEssentials

/// The history that publishers send, and the store of the publishers.
package protocol PublisherJournal: Sendable {
    /// Returns the first `limit` points after the one with this id, in the order of ids. Blocks the calling thread.
    func points(after id: Int64, limit: Int) throws -> [PublishedPoint]

    /// A number that changes when points are deleted. Any thread; returns immediately.
    var deletions: Int { get }

    /// Returns the id of the newest point; 0 if there is none.
    func newestPointID() async throws -> Int64

    /// Returns the id of the last point before the first one of this time or later.
    func lastPoint(before time: Date) async throws -> Int64

    /// Saves the progress of a publisher. Blocks the calling thread.
    func save(_ progress: PublishProgress, of publisher: String) throws

    /// Saves the progress of a publisher together with the next points, which costs little. Any thread; returns immediately.
    ///
    /// Returns whether an earlier progress still waits for them.
    func saveWithNextPoints(_ progress: PublishProgress, of publisher: String) -> Bool

    /// Records that the sender's broker has the last reply to a command. Blocks the calling thread.
    func answered(_ command: String) throws

    /// Stores whether a publisher is paused.
    func setPaused(_ isPaused: Bool, of publisher: String) async throws

    /// Removes, adds and adopts publishers in one transaction.
    func change(removing: [String], adding: [StoredPublisher], adopting: [String]) async throws
}
