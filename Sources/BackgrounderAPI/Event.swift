/// Something that changed. A reader of `/v1/events` gets ``state(_:)`` first, then what happens.
package enum Event: Sendable {
    case state(StateSnapshot)
    case location(Location)
    case currentItem(CurrentItem)
    case time(PlayerTime)
    case lifecycle(Lifecycle)

    /// The `event:` field of the server-sent event.
    package var name: String {
        switch self {
        case .state: "state"
        case .location: "location"
        case .currentItem: "currentItem"
        case .time: "time"
        case .lifecycle: "lifecycle"
        }
    }

    /// The `data:` field: one JSON object.
    package var payload: any Codable & Sendable {
        switch self {
        case .state(let value): value
        case .location(let value): value
        case .currentItem(let value): value
        case .time(let value): value
        case .lifecycle(let value): value
        }
    }
}

/// All that a client needs to show the service: status, the rolling track oldest first, the queue in order.
package struct StateSnapshot: Codable, Sendable {
    package var status: ServiceStatus
    package var track: [Location]
    package var queue: [PlayerItem]

    package init(status: ServiceStatus, track: [Location], queue: [PlayerItem]) {
        self.status = status
        self.track = track
        self.queue = queue
    }
}

/// The item that plays or would play next; none at the end of the queue.
package struct CurrentItem: Codable, Hashable, Sendable {
    package var item: PlayerItem?

    package init(item: PlayerItem?) {
        self.item = item
    }
}

/// How far an item has been heard, in seconds.
package struct PlayerTime: Codable, Hashable, Sendable {
    package var itemID: Int
    package var elapsed: Double
    package var duration: Double?

    package init(itemID: Int, elapsed: Double, duration: Double? = nil) {
        self.itemID = itemID
        self.elapsed = elapsed
        self.duration = duration
    }
}

/// A change of the service's state or of the number of attached clients.
package struct Lifecycle: Codable, Hashable, Sendable {
    package var state: ApplicationState
    package var attached: Int

    package init(state: ApplicationState, attached: Int) {
        self.state = state
        self.attached = attached
    }
}
