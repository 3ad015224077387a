/// A change of the queue, from which a store can update its copy without reading the rest.
///
/// Changes are applied in order; each names its neighbours at that time.
package enum QueueChange: Hashable, Sendable {
    /// Consecutive new items; their `position` is meaningless.
    case inserted([PlayerItem], QueuePlace)
    /// Ids that become consecutive; the neighbours are not among them.
    case moved([Int], QueuePlace)
    case removed([Int])
    /// The metadata of an item changed.
    case described(PlayerItem)
    /// Items have a new priority, 0 to 255.
    case prioritised([Int], Int)
    /// The file of this item was read and has no metadata.
    case unreadable(Int)
    /// The whole queue in order, replacing the previous one.
    case replaced([PlayerItem])
}

/// A place between two items, by their ids; `nil` at the beginning or end of the queue.
package struct QueuePlace: Hashable, Sendable {
    package var after: Int?
    package var before: Int?

    /// Creates a queue place.
    package init(after: Int? = nil, before: Int? = nil) {
        self.after = after
        self.before = before
    }
}
