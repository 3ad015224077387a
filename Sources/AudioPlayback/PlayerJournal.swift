package import BackgrounderAPI

/// Where the player writes what a restart must give back. It writes before it answers, so what a client saw is stored.
///
/// One write is under way at a time. A write that throws is logged and playing goes on.
package protocol PlayerJournal: Sendable {
    /// After each change of the queue: what changed since the last write, in its order, and the state that goes with it.
    /// All of it or nothing. After a write that threw, the next one brings ``QueueChange/replaced(_:)``.
    func save(_ changes: [QueueChange], state: PlayerState) async throws
    /// What a command did, or another item.
    func save(state: PlayerState) async throws
    /// Every half second while it plays; a power cut may take it. Called on a thread that may wait for the disk.
    func keep(_ position: PlayerPosition) throws
}

/// What the player tells whoever shows it. Nothing is coalesced.
package enum PlayerEvent: Sendable {
    /// The item that plays now, none at the end of the queue.
    case currentItem(PlayerItem?)
    /// Anything else that status or queue shows.
    case changed
}
