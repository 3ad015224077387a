import BackgrounderAPI

/// The selected item of the queue, and the part of the queue around it.
///
/// The selection follows its item by id. A snapshot has the items around the current one; if the selection is elsewhere in
/// a long queue, ``takeRequest()`` says which page to read from the service.
struct QueueCursor {
    private enum Selection: Hashable {
        /// Nothing was selected yet: the selection is the current item.
        case current
        case item(id: Int, position: Int)
    }

    private var selection = Selection.current
    /// Items around the selected one; empty while the snapshot has them.
    private var page: [PlayerItem] = []
    /// The id around which a page should be read.
    private var wanted: Int?
    /// The snapshot for which the newest page was requested.
    private var snapshotOfPage: Int?

    /// Tuned: more than half of the rows of any screen.
    private static let margin = 60

    /// The items around the selection, in order.
    func items(in state: LiveState) -> [PlayerItem] { page.isEmpty ? state.queue : page }

    /// The selected item; `nil` if the queue is empty.
    func selected(in state: LiveState) -> PlayerItem? {
        let items = items(in: state)
        switch selection {
        case .current: return items.first { $0.id == state.status?.audio?.currentItem?.id } ?? items.first
        case .item(let id, _): return items.first { $0.id == id }
        }
    }

    /// Selects the item that is `distance` after the selected one, or the last one before the end of the part of the queue
    /// that is known.
    mutating func step(_ distance: Int, in state: LiveState) {
        let items = items(in: state)
        guard let item = selected(in: state), let index = items.firstIndex(where: { $0.id == item.id }) else { return }
        select(items[max(0, min(items.count - 1, index + distance))])
        if isNearEdge(in: items, of: state) { request(in: state) }
    }

    /// Selects the item after the selected one, which is about to be removed; the one before it if it is the last.
    mutating func leaveSelected(in state: LiveState) {
        let items = items(in: state)
        guard let item = selected(in: state), let index = items.firstIndex(where: { $0.id == item.id }) else { return }
        let isLast = index == items.count - 1
        guard items.count > 1 else { return selection = .current }
        select(items[isLast ? index - 1 : index + 1])
    }

    /// Follows the selected item after a change of the state.
    mutating func follow(_ state: LiveState) {
        guard case .item(let id, let position) = selection else { return }
        if let item = state.queue.first(where: { $0.id == id }), !isNearEdge(item, in: state.queue, of: state) {
            page = []
            select(item)
        } else if state.queue.count >= state.queueLength {
            page = []
            replace(at: position, in: state.queue)
        } else if snapshotOfPage != state.snapshots {
            request(in: state)
        }
    }

    /// Receives the items around `id`; `nil` if it is not in the queue any more.
    mutating func receive(_ items: [PlayerItem]?, around id: Int, in state: LiveState) {
        guard case .item(id, let position) = selection else { return }
        guard let items, let item = items.first(where: { $0.id == id }) else {
            return replace(at: position, in: self.items(in: state).filter { $0.id != id })
        }
        page = items
        select(item)
    }

    /// Returns the id of the item around which a page should be read, once.
    mutating func takeRequest() -> Int? {
        defer { wanted = nil }
        return wanted
    }

    /// Selects the item that moved to the position of a removed one.
    private mutating func replace(at position: Int, in items: [PlayerItem]) {
        guard let item = items.first(where: { $0.position >= position }) ?? items.last else {
            (selection, page) = (.current, [])
            return
        }
        select(item)
    }

    private mutating func select(_ item: PlayerItem) {
        selection = .item(id: item.id, position: item.position)
    }

    private mutating func request(in state: LiveState) {
        guard case .item(let id, _) = selection else { return }
        wanted = id
        snapshotOfPage = state.snapshots
    }

    private func isNearEdge(in items: [PlayerItem], of state: LiveState) -> Bool {
        selected(in: state).map { isNearEdge($0, in: items, of: state) } ?? false
    }

    /// Whether `item` is near an end of `items` beyond which the queue has more.
    private func isNearEdge(_ item: PlayerItem, in items: [PlayerItem], of state: LiveState) -> Bool {
        guard let first = items.first, let last = items.last else { return false }
        return first.position > 0 && item.position - first.position < Self.margin
            || last.position < state.queueLength - 1 && last.position - item.position < Self.margin
    }
}
