package import FoundationEssentials

/// A publisher: the points of this machine on their way to a broker or a web server.
package struct PublisherStatus: Codable, Hashable, Sendable {
    package var name: String
    /// Whether the configuration file declares it, so that commands cannot change it.
    package var declared: Bool
    package var url: String
    /// The id of this machine.
    package var machine: String
    /// The topic of the points.
    package var topic: String
    /// The groups whose commands the machine obeys; absent if there are none.
    package var groups: [String]?
    package var state: PublisherState
    /// Why points wait, in one line; absent if none does for a reason.
    package var why: String?
    /// Stored points that were not acknowledged.
    package var backlog: Int
    /// Acknowledged points a second, over the last seconds; absent below 0.1.
    package var rate: Double?
    /// Points sent, with repetitions.
    package var published: Int
    package var acknowledged: Int
    /// Points that were deleted from the history before they were sent.
    package var dropped: Int
    /// When a point was acknowledged last.
    package var lastAcknowledged: Date?
    /// When the newest position was sent last, apart from the points.
    package var live: Date?

    /// Creates the status of a publisher.
    package init(
        name: String,
        declared: Bool = false,
        url: String,
        machine: String,
        topic: String,
        groups: [String]? = nil,
        state: PublisherState = .waiting,
        why: String? = nil,
        backlog: Int = 0,
        rate: Double? = nil,
        published: Int = 0,
        acknowledged: Int = 0,
        dropped: Int = 0,
        lastAcknowledged: Date? = nil,
        live: Date? = nil
    ) {
        self.name = name
        self.declared = declared
        self.url = url
        self.machine = machine
        self.topic = topic
        self.groups = groups
        self.state = state
        self.why = why
        self.backlog = backlog
        self.rate = rate
        self.published = published
        self.acknowledged = acknowledged
        self.dropped = dropped
        self.lastAcknowledged = lastAcknowledged
        self.live = live
    }
}

/// The connection of a publisher.
package enum PublisherState: String, Codable, CaseIterable, Sendable {
    case connected
    /// The broker or server cannot be reached, or nothing was posted yet; the service retries.
    case waiting
    /// A command stopped it.
    case paused
    /// The broker refused the connection, or the server a point; the service retries.
    case failed
}
