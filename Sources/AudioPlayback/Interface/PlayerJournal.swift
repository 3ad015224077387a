package import BackgrounderAPI

/// Stores the player's state for a restart. The player writes before it answers, so everything a client has seen is stored.
///
/// Only one write runs at a time. If a write throws, the player logs the error and continues to play.
package protocol PlayerJournal: Sendable {
    /// Stores, atomically, the changes of the queue since the last write, in order, and the state that goes with them.
    /// After a write that threw, the next one passes ``QueueChange/replaced(_:)``.
    ///
    /// - Parameter isStateNew: false if the state is that of the last write, with another position at most.
    func save(_ changes: [QueueChange], state: PlayerState, isStateNew: Bool) async throws
    /// Stores the state after a command, or after another item has begun.
    func save(state: PlayerState) async throws
    /// Stores the position every half second while playing; a power cut may lose it. Called on a thread that may wait for
    /// the disk.
    func save(position: PlayerPosition) throws
}

/// An event for clients that show the player. Events are not merged.
package enum PlayerEvent: Sendable {
    /// The item that plays now; nil at the end of the queue.
    case currentItem(PlayerItem?)
    /// Anything else in the status or the queue has changed.
    case changed
}
