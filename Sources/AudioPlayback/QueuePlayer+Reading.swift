package import BackgrounderAPI

/// What the queue holds, for those who show it. What they get is stored: a crash does not take it back.
extension QueuePlayer {
    /// The items in their order, all at one moment.
    package func queue() async -> QueueSnapshot {
        await shown()
        return QueueSnapshot(list, unplayable)
    }

    package var queueLength: Int { list.count }

    /// At most `most` items that follow each other, with the current one in their middle as far as that goes, and how many
    /// there are in all.
    package func itemsAroundCurrent(_ most: Int) async -> (items: [PlayerItem], queueLength: Int) {
        await shown()
        let middle = list.currentID.flatMap(list.position) ?? 0
        let first = max(0, min(middle - most / 2, list.count - most))
        return (list.items(in: first..<first + most).map(marked), list.count)
    }

    /// Grows with every change of the items, of their order, or of what is known of them; from 1 at each start.
    package var queueVersion: Int { list.version }

    /// The items at those of `positions` that there are.
    package func items(in positions: Range<Int>) async -> [PlayerItem] {
        await shown()
        return list.items(in: positions).map(marked)
    }

    /// The items that are others than at `version`, or at other positions; all of them where that cannot be known. What
    /// was cut off at the end only shows in ``queueLength``.
    package func items(changedSince version: Int) async -> [PlayerItem] {
        await shown()
        return list.items(changedSince: version).map(marked)
    }

    package func item(id: Int) async -> PlayerItem? {
        await shown()
        return list.item(id).map(marked)
    }

    func marked(_ item: PlayerItem) -> PlayerItem { item.marked(unplayable) }

    /// What would be played at the end of the current item; none at the end of the queue, or while nothing is current.
    package var nextItem: PlayerItem? {
        var ahead = list
        return switch playable(ahead.finishCurrent(), in: &ahead) {
        case .play(let id), .pause(let id): ahead.item(id)
        case .stay, .stop: nil
        }
    }

    /// Forgets what went wrong last.
    package func clearError() async {
        guard lastError != nil else { return }
        lastError = nil
        unsentEvents.append(.changed)
        await commit()
    }
}

/// The queue as it was at a moment. It costs no memory of its own as long as the queue stays the same.
package struct QueueSnapshot: RandomAccessCollection, Sendable {
    private let list: PlayerQueue
    private let unplayable: [Int: String]

    init(_ list: PlayerQueue, _ unplayable: [Int: String]) {
        (self.list, self.unplayable) = (list, unplayable)
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { list.count }
    package subscript(position: Int) -> PlayerItem { list.item(at: position).marked(unplayable) }
}

extension PlayerItem {
    /// With the reason why it could not be opened, if there is one.
    fileprivate func marked(_ unplayable: [Int: String]) -> PlayerItem {
        guard let reason = unplayable[id] else { return self }
        var item = self
        item.error = reason
        return item
    }
}
