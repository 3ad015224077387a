import BackgrounderAPI
import MediaFiles

/// The state of the items from the network that is not stored with their metadata.
struct StreamNews {
    /// The live streams that were opened, by item.
    private var live: [Int: LiveStream] = [:]
    /// The title of the live stream that is heard.
    private var title: (itemID: Int, text: String)?
    /// Why the current item has no sound; nil while there is sound.
    private(set) var waiting: String?
    /// The items whose silence was logged.
    private var silent: Set<Int> = []

    func isLive(_ id: Int) -> Bool { live[id] != nil }

    mutating func opened(_ id: Int, _ stream: LiveStream?) { live[id] = stream }

    /// Sets the title of the item that is heard. Returns whether that is a change.
    mutating func show(title text: String?, of id: Int?) -> Bool {
        let new = id.flatMap { id in text.map { (id, $0) } }
        defer { title = new }
        return new?.0 != title?.itemID || new?.1 != title?.text
    }

    /// Sets what the current item waits for. Returns whether that is a change.
    mutating func show(waiting reason: String?) -> Bool {
        defer { waiting = reason }
        return reason != waiting
    }

    /// Returns whether the silence of an item is its first one. A bad link must not fill the log.
    mutating func reportSilence(of id: Int) -> Bool { silent.insert(id).inserted }

    /// Forgets the items that are no longer in the queue.
    mutating func forget(where isGone: (Int) -> Bool) {
        live = live.filter { !isGone($0.key) }
        silent = silent.filter { !isGone($0) }
    }

    /// Returns `item` with the title and the station of a live stream that plays.
    func shown(_ item: PlayerItem, isCurrent: Bool) -> PlayerItem {
        guard isCurrent, let stream = live[item.id] else { return item }
        var item = item
        item.station = stream.station
        if let title, title.itemID == item.id { item.title = Metadata.line(title.text) }
        return item
    }
}
