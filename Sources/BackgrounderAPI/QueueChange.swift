/// One step by which the queue became another: what a store needs to follow it without looking at the rest.
///
/// Steps are taken in their order; each names its neighbours as they are when it is taken.
package enum QueueChange: Hashable, Sendable {
    /// New items, one behind the other; their positions say nothing.
    case inserted([PlayerItem], QueuePlace)
    /// Ids that follow each other from now on; the neighbours are none of them.
    case moved([Int], QueuePlace)
    case removed([Int])
    /// What is known of the content of an item is this now.
    case described(PlayerItem)
    /// The content of this item was looked at and told nothing.
    case unreadable(Int)
    /// All of it, in order: whatever came before does not count.
    case replaced([PlayerItem])
}

/// A place between two items, by their ids; none where the queue begins or ends.
package struct QueuePlace: Hashable, Sendable {
    package var after: Int?
    package var before: Int?

    package init(after: Int? = nil, before: Int? = nil) {
        self.after = after
        self.before = before
    }
}
