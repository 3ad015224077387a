/// A topic of a broker whose messages start fetches: silent push.
package struct PushStatus: Codable, Hashable, Sendable {
    package var name: String
    package var url: String
    package var topic: String
    package var state: PushState
    /// Messages that came and were taken.
    package var received: Int
    package var ignored: PushIgnored
    package var lastError: String?

    package init(
        name: String,
        url: String,
        topic: String,
        state: PushState = .connecting,
        received: Int = 0,
        ignored: PushIgnored = PushIgnored(),
        lastError: String? = nil
    ) {
        self.name = name
        self.url = url
        self.topic = topic
        self.state = state
        self.received = received
        self.ignored = ignored
        self.lastError = lastError
    }
}

package enum PushState: String, Codable, CaseIterable, Sendable {
    case connecting, connected
    /// The broker does not let us in.
    case refused
}

/// Messages that led to nothing, by reason.
package struct PushIgnored: Codable, Hashable, Sendable {
    package var retained = 0
    package var duplicate = 0
    package var expired = 0
    package var oversize = 0
    package var malformed = 0
    package var unknown = 0

    package init() {}
}

/// The words of a message, shown when its fetch is over or late.
package struct PushAlert: Codable, Hashable, Sendable {
    package var source: String
    /// The message's own.
    package var id: String
    package var text: String

    package init(source: String, id: String, text: String) {
        self.source = source
        self.id = id
        self.text = text
    }
}
