package import BackgrounderAPI

/// Where the player writes what a restart must give back. It writes before it answers, so what a client saw is stored.
///
/// One write is under way at a time. A write that throws is logged and playing goes on.
package protocol PlayerJournal: Sendable {
    /// After each change of the queue: the whole queue in order, and the state that goes with it.
    func save(queue: [PlayerItem], state: PlayerState) async throws
    /// `durable`: what a command did. Not durable: the position, every half second while it plays.
    func save(state: PlayerState, durable: Bool) async throws
}

/// What the player tells whoever shows it. Nothing is coalesced.
package enum PlayerEvent: Sendable {
    /// The item that plays now, none at the end of the queue.
    case currentItem(PlayerItem?)
    /// Anything else that status or queue shows.
    case changed
}
