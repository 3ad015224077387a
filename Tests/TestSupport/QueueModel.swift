package import BackgrounderAPI

extension [PlayerItem] {
    /// Applies a change in the simplest way, and numbers the positions again.
    package mutating func take(_ change: QueueChange) {
        switch change {
        case .inserted(let items, let place): insert(contentsOf: items, at: index(of: place))
        case .moved(let ids, let place):
            let moved = ids.compactMap { id in first { $0.id == id } }
            removeAll { ids.contains($0.id) }
            insert(contentsOf: moved, at: index(of: place))
        case .removed(let ids): removeAll { ids.contains($0.id) }
        case .described(let item):
            if let index = firstIndex(where: { $0.id == item.id }) { self[index] = item }
        case .prioritised(let ids, let priority):
            for index in indices where ids.contains(self[index].id) {
                self[index].priority = priority == 0 ? nil : priority
            }
        case .unreadable: break
        case .replaced(let items): self = items
        }
        for index in indices { self[index].position = index }
    }

    private func index(of place: QueuePlace) -> Int {
        let index = place.after.flatMap { id in firstIndex { $0.id == id } }.map { $0 + 1 } ?? 0
        precondition(place.before == (index < count ? self[index].id : nil), "the items are not neighbours")
        return index
    }
}
