/// A change in the service. A reader of `/v1/events` receives ``state(_:)`` first, then the other events.
package enum Event: Sendable {
    case state(StateSnapshot)
    case location(Location)
    case currentItem(CurrentItem)
    case time(PlayerTime)
    case lifecycle(LifecycleState)
    case task(BackgroundTask)
    case fetch(FetchRun)
    case transfer(Transfer)
    case alert(PushAlert)
    case place(PlaceEvent)
    case health(StorageHealth)

    /// The `event:` field of the server-sent event.
    package var name: String {
        switch self {
        case .state: "state"
        case .location: "location"
        case .currentItem: "currentItem"
        case .time: "time"
        case .lifecycle: "lifecycle"
        case .task: "task"
        case .fetch: "fetch"
        case .transfer: "transfer"
        case .alert: "alert"
        case .place: "place"
        case .health: "health"
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
        case .task(let value): value
        case .fetch(let value): value
        case .transfer(let value): value
        case .alert(let value): value
        case .place(let value): value
        case .health(let value): value
        }
    }
}

/// Everything that a client needs to show the service: the status, the rolling track oldest first, and the queue in order.
package struct StateSnapshot: Codable, Sendable {
    /// Tuned: fills a screen; with a long queue, a change of the volume must not cost megabytes.
    package static let mostItems = 200
    /// The most open transfers in a snapshot. Tuned: as ``mostItems``.
    private static let mostTransfers = 100

    package var status: ServiceStatus
    package var track: [Location]
    /// At most ``mostItems`` consecutive items, including the current one.
    package var queue: [PlayerItem]
    /// The number of items in the whole queue.
    package var queueLength: Int

    /// Creates a state snapshot.
    package init(status: ServiceStatus, track: [Location], queue: [PlayerItem], queueLength: Int? = nil) {
        self.status = status
        self.track = track
        self.queue = queue
        self.queueLength = queueLength ?? queue.count
    }

    /// Returns the open transfers that a snapshot contains, by id: those that move, and the oldest of the others. The route of transfers
    /// has all.
    package static func shown(_ transfers: [Transfer]) -> [Transfer] {
        guard transfers.count > mostTransfers else { return transfers }
        let isMoving = { (transfer: Transfer) in [.running, .verifying, .moving].contains(transfer.state) }
        let ordered = transfers.filter(isMoving) + transfers.filter { !isMoving($0) }
        return ordered.prefix(mostTransfers).sorted { $0.id < $1.id }
    }
}

/// The item that plays or would play next; none at the end of the queue.
package struct CurrentItem: Codable, Hashable, Sendable {
    package var item: PlayerItem?

    /// Creates a current item.
    package init(item: PlayerItem?) {
        self.item = item
    }
}

/// The position in an item that has been heard, in seconds.
package struct PlayerTime: Codable, Hashable, Sendable {
    package var itemID: Int
    package var elapsed: Double
    package var duration: Double?

    /// Creates a player time.
    package init(itemID: Int, elapsed: Double, duration: Double? = nil) {
        self.itemID = itemID
        self.elapsed = elapsed
        self.duration = duration
    }
}

/// The service's state and the number of attached clients, posted when either changes.
package struct LifecycleState: Codable, Hashable, Sendable {
    package var state: ApplicationState
    package var attached: Int

    /// Creates a life-cycle state.
    package init(state: ApplicationState, attached: Int) {
        self.state = state
        self.attached = attached
    }
}
