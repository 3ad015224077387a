/// A push: a topic of a broker whose messages trigger fetches.
package struct PushStatus: Codable, Hashable, Sendable {
    package var name: String
    /// Whether the configuration file declares it, so that commands cannot remove it.
    package var declared: Bool
    package var url: String
    package var topic: String
    package var state: PushState
    /// Accepted messages.
    package var received: Int
    package var ignored: PushIgnored
    package var lastError: String?

    /// Creates a push status.
    package init(
        name: String,
        declared: Bool = false,
        url: String,
        topic: String,
        state: PushState = .connecting,
        received: Int = 0,
        ignored: PushIgnored = PushIgnored(),
        lastError: String? = nil
    ) {
        self.name = name
        self.declared = declared
        self.url = url
        self.topic = topic
        self.state = state
        self.received = received
        self.ignored = ignored
        self.lastError = lastError
    }
}

/// The connection to the broker of a push.
package enum PushState: String, Codable, CaseIterable, Sendable {
    case connecting, connected
    /// The broker refused the connection or the subscription.
    case refused
}

/// The numbers of ignored messages by reason.
package struct PushIgnored: Codable, Hashable, Sendable {
    package var retained = 0
    package var duplicate = 0
    package var expired = 0
    package var oversize = 0
    package var malformed = 0
    package var unknown = 0

    /// Creates counts of zero.
    package init() {}
}

/// The alert of a message, shown after its fetch or when the fetch is late.
package struct PushAlert: Codable, Hashable, Sendable {
    package var source: String
    /// The id of the message.
    package var id: String
    package var text: String

    /// Creates a push alert.
    package init(source: String, id: String, text: String) {
        self.source = source
        self.id = id
        self.text = text
    }
}
