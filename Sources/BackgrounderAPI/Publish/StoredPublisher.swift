package import FoundationEssentials

/// A publisher as it is stored.
package struct StoredPublisher: Hashable, Sendable {
    package var name: String
    package var address: PublisherAddress
    package var machine: MachineID
    /// The topic of the points.
    package var topic: String
    /// Whether it announces the machine to Home Assistant.
    package var isForHomeAssistant: Bool
    /// The groups whose commands the machine obeys.
    package var groups: [MachineID]
    /// The absolute path of the credentials file.
    package var credentials: String?
    /// The absolute path of the machine's certificate for TLS, in PEM.
    package var certificate: String?
    /// The absolute path of its key.
    package var key: String?
    /// Whether the configuration declares it.
    package var isDeclared: Bool
    package var isPaused: Bool
    package var progress: PublishProgress

    /// Creates a publisher.
    package init(
        name: String,
        address: PublisherAddress,
        machine: MachineID,
        topic: String,
        isForHomeAssistant: Bool = false,
        groups: [MachineID] = [],
        credentials: String? = nil,
        certificate: String? = nil,
        key: String? = nil,
        isDeclared: Bool = false,
        isPaused: Bool = false,
        progress: PublishProgress
    ) {
        self.name = name
        self.address = address
        self.machine = machine
        self.topic = topic
        self.isForHomeAssistant = isForHomeAssistant
        self.groups = groups
        self.credentials = credentials
        self.certificate = certificate
        self.key = key
        self.isDeclared = isDeclared
        self.isPaused = isPaused
        self.progress = progress
    }
}

/// How far a publisher has come.
package struct PublishProgress: Hashable, Sendable {
    /// The broker has acknowledged all points with ids up to this one, or they are not to be sent.
    package var done: Int64
    /// Points sent, with repetitions.
    package var published = 0
    package var acknowledged = 0
    /// Points that were deleted before they were sent.
    package var dropped = 0
    package var lastAcknowledged: Date?

    /// Creates the progress of a new publisher, which begins after the point `done`.
    package init(
        done: Int64,
        published: Int = 0,
        acknowledged: Int = 0,
        dropped: Int = 0,
        lastAcknowledged: Date? = nil
    ) {
        (self.done, self.published, self.acknowledged) = (done, published, acknowledged)
        (self.dropped, self.lastAcknowledged) = (dropped, lastAcknowledged)
    }
}

/// A point of the history with its key, which stays unique even if a power cut lets the store use its ids again.
package struct PublishedPoint: Hashable, Sendable {
    package var id: Int64
    /// Identifies the run of ids that the point belongs to.
    package var generation: String
    /// When the point was stored.
    package var recorded: Date
    package var location: Location

    /// Creates a point.
    package init(id: Int64, generation: String, recorded: Date, location: Location) {
        (self.id, self.generation, self.recorded, self.location) = (id, generation, recorded, location)
    }
}

/// The id of a machine in a fleet: a level of topics, which every broker accepts.
package struct MachineID: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// Checks an id.
    ///
    /// - Throws: ``MachineIDError``
    package init(_ text: String) throws(MachineIDError) {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isPlain, (1...64).contains(text.utf8.count) else { throw MachineIDError(text: text) }
        description = text
    }
}

/// Why a text is not a ``MachineID``.
package struct MachineIDError: Error, Hashable, CustomStringConvertible {
    package let text: String

    package var description: String {
        "\(text.debugDescription) is not a valid machine id; use 1 to 64 of the characters a-z, 0-9, _ and -, since brokers refuse others in topics"
    }
}
