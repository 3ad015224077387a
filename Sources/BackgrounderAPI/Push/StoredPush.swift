package import FoundationEssentials

/// A push as it is stored.
package struct StoredPush: Hashable, Sendable {
    package var name: String
    package var address: BrokerAddress
    package var topic: TopicFilter
    /// The absolute path of the credentials file.
    package var credentials: String?
    /// The MQTT client identifier, by which the broker finds the session and its queued messages again.
    package var clientID: String
    /// Whether the configuration declares it.
    package var isDeclared: Bool
    package var received = 0
    package var ignored = PushIgnored()

    /// Creates a push; a new one has received nothing yet.
    package init(
        name: String,
        address: BrokerAddress,
        topic: TopicFilter,
        credentials: String? = nil,
        clientID: String,
        isDeclared: Bool = false,
        received: Int = 0,
        ignored: PushIgnored = PushIgnored()
    ) {
        self.name = name
        self.address = address
        self.topic = topic
        self.credentials = credentials
        self.clientID = clientID
        self.isDeclared = isDeclared
        self.received = received
        self.ignored = ignored
    }
}

/// A message whose fetch has not ended.
package struct WaitingPush: Hashable, Sendable {
    package var source: String
    package var id: String
    /// The text to show; `nil` if there is none or it was shown already.
    package var alert: String?
    package var arrived: Date

    /// Creates a message that arrived at `arrived`, a wall clock time.
    package init(source: String, id: String, alert: String? = nil, arrived: Date) {
        self.source = source
        self.id = id
        self.alert = alert
        self.arrived = arrived
    }
}
