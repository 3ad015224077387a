package import BackgrounderAPI
package import FoundationEssentials

/// A push as it is kept.
package struct StoredPush: Hashable, Sendable {
    package var name: String
    package var address: BrokerAddress
    package var topic: TopicFilter
    /// The absolute path of a file.
    package var credentials: String?
    /// By which the broker knows us, and keeps what comes while we are away.
    package var clientID: String
    package var received = 0
    package var ignored = PushIgnored()

    package init(
        name: String,
        address: BrokerAddress,
        topic: TopicFilter,
        credentials: String? = nil,
        clientID: String,
        received: Int = 0,
        ignored: PushIgnored = PushIgnored()
    ) {
        self.name = name
        self.address = address
        self.topic = topic
        self.credentials = credentials
        self.clientID = clientID
        self.received = received
        self.ignored = ignored
    }

    /// A name for the broker: 23 letters and digits, which every broker takes (MQTT 3.1.1, 3.1.3.1).
    package static func randomClientID() -> String {
        let characters = Array("0123456789abcdefghijklmnopqrstuvwxyz")
        return "backgrounder" + String((0..<11).map { _ in characters[Int.random(in: characters.indices)] })
    }
}

/// A message whose fetch is not over.
package struct WaitingPush: Hashable, Sendable {
    package var source: String
    package var id: String
    /// Absent where there is none, and once it was shown.
    package var alert: String?
    package var arrived: Date

    package init(source: String, id: String, alert: String? = nil, arrived: Date) {
        self.source = source
        self.id = id
        self.alert = alert
        self.arrived = arrived
    }
}

/// What a restart gives back.
package struct SavedPushes: Sendable {
    /// Oldest first.
    package var pushes: [StoredPush]
    /// At most one a source.
    package var waiting: [WaitingPush]
    /// When the last fetches of each source began.
    package var starts: [String: [Date]]

    package init(pushes: [StoredPush] = [], waiting: [WaitingPush] = [], starts: [String: [Date]] = [:]) {
        self.pushes = pushes
        self.waiting = waiting
        self.starts = starts
    }
}

/// Where the receiver keeps what must outlive it. Every call has committed when it returns; errors are the disk's.
package protocol PushJournal: Sendable {
    func add(_ push: StoredPush) async throws
    func removePush(_ name: String) async throws

    /// Takes a message of `push`: remembers its id, counts it, and puts it in the place of the one that waits for its source.
    ///
    /// - Returns: whether its id is new; it is counted as a duplicate otherwise, and nothing else is done.
    func take(_ message: WaitingPush, of push: String) async throws -> Bool

    func count(_ reason: PushRejection, of push: String) async throws

    /// The fetch for the message that waits for `source` begins.
    func begin(_ source: String, at time: Date) async throws

    /// The fetch that began then is over; `takenBack`: there was none, and it does not count.
    func end(_ source: String, began: Date, takenBack: Bool) async throws

    /// The alert of the message with this id was shown.
    func alerted(_ source: String, id: String) async throws
}
