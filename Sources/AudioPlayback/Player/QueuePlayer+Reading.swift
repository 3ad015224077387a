package import BackgrounderAPI

/// Reading the queue. Everything returned has been stored, so a crash does not take it back.
extension QueuePlayer {
    /// Returns a snapshot of the items, in order.
    package func queue() async -> QueueSnapshot {
        await written()
        return QueueSnapshot(list, faults.unplayable, list.current.map(marked))
    }

    package var queueLength: Int { list.count }

    /// Returns at most `most` consecutive items, centred on the current one as far as possible, and the length of the queue.
    package func itemsAroundCurrent(_ most: Int) async -> (items: [PlayerItem], queueLength: Int) {
        await written()
        return (items(around: list.currentID.flatMap(list.position) ?? 0, most), list.count)
    }

    /// Returns at most `most` consecutive items, centred on the item with `id` as far as possible; `nil` if there is no
    /// such item.
    package func items(around id: Int, most: Int) async -> [PlayerItem]? {
        await written()
        return list.position(of: id).map { items(around: $0, most) }
    }

    private func items(around position: Int, _ most: Int) -> [PlayerItem] {
        let first = max(0, min(position - most / 2, list.count - most))
        return list.items(in: first..<first + most).map(marked)
    }

    /// The version of the queue: grows with every change of the items, their order or their metadata. 1 at each start.
    package var queueVersion: Int { list.version }

    /// Returns the items at those of `positions` that exist.
    package func items(in positions: Range<Int>) async -> [PlayerItem] {
        await written()
        return list.items(in: positions).map(marked)
    }

    /// Returns the items that changed or moved since `version`; all of them if that version is unknown. Items removed from
    /// the end show only in ``queueLength``.
    package func items(changedSince version: Int) async -> [PlayerItem] {
        await written()
        return list.items(changedSince: version).map(marked)
    }

    /// Returns the item with `id`, or nil.
    package func item(id: Int) async -> PlayerItem? {
        await written()
        return list.item(id).map(marked)
    }

    /// Returns the item as clients see it: with the fault that made it unplayable, or the title of a live stream.
    func marked(_ item: PlayerItem) -> PlayerItem {
        news.shown(item, isCurrent: item.id == list.currentID).marked(faults.unplayable)
    }

    /// The item that follows the current one, at its present position; nil at the end of the queue, or if no item is current.
    package var nextItem: PlayerItem? {
        var ahead = list
        return switch playable(ahead.finishCurrent(), in: &ahead) {
        case .play(let id), .pause(let id): list.item(id)
        case .stay, .stop: nil
        }
    }

    /// Clears the last error.
    package func clearError() async {
        guard lastError != nil else { return }
        lastError = nil
        writes.send(.changed)
        await commit()
    }
}

/// A snapshot of the queue. It takes no memory of its own until the queue changes.
package struct QueueSnapshot: RandomAccessCollection, Sendable {
    private let list: PlayerQueue
    private let unplayable: [Int: String]
    /// The current item as clients see it.
    private let current: PlayerItem?

    init(_ list: PlayerQueue, _ unplayable: [Int: String], _ current: PlayerItem?) {
        (self.list, self.unplayable, self.current) = (list, unplayable, current)
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { list.count }
    /// The item at `position`. O(1).
    package subscript(position: Int) -> PlayerItem {
        let item = list.item(at: position)
        return if let current, current.id == item.id { current } else { item.marked(unplayable) }
    }
}

extension PlayerItem {
    /// Returns the item with the reason why it could not be opened, if there is one.
    fileprivate func marked(_ unplayable: [Int: String]) -> PlayerItem {
        guard let reason = unplayable[id] else { return self }
        var item = self
        item.error = reason
        return item
    }
}
