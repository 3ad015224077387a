package import FoundationEssentials

/// A download or upload.
package struct Transfer: Codable, Hashable, Sendable {
    package var id: Int
    package var session: String
    package var direction: TransferDirection
    package var url: String
    /// The absolute path of the file that is written or sent.
    package var destination: String
    package var state: TransferState
    /// Present only while ``state`` is `waiting`.
    package var waitingFor: TransferWait?
    /// Bytes that are safely stored here (`get`), or that the server has (`put`).
    package var received: Int64
    /// The size in bytes; absent until it is known.
    package var total: Int64?
    /// Bytes a second over the last seconds; present only while ``state`` is `running`, from its second second on.
    package var rate: Double?
    /// The seconds that the rest takes at this rate; absent while the rate or the size is unknown.
    package var remaining: Double?
    /// Attempts since the last new byte.
    package var attempts: Int
    /// When the wait ends by itself; present only while ``state`` is `waiting`.
    package var next: Date?
    /// How often it had to start from the first byte again.
    package var restarts: Int
    /// Whether it waits for power and an unmetered network.
    package var discretionary: Bool
    /// Why it failed, or the problem of the last attempt.
    package var error: String?

    /// Creates a transfer.
    package init(
        id: Int,
        session: String,
        direction: TransferDirection,
        url: String,
        destination: String,
        state: TransferState = .queued,
        waitingFor: TransferWait? = nil,
        received: Int64 = 0,
        total: Int64? = nil,
        rate: Double? = nil,
        remaining: Double? = nil,
        attempts: Int = 0,
        next: Date? = nil,
        restarts: Int = 0,
        discretionary: Bool = false,
        error: String? = nil
    ) {
        self.id = id
        self.session = session
        self.direction = direction
        self.url = url
        self.destination = destination
        self.state = state
        self.waitingFor = waitingFor
        self.received = received
        self.total = total
        self.rate = rate
        self.remaining = remaining
        self.attempts = attempts
        self.next = next
        self.restarts = restarts
        self.discretionary = discretionary
        self.error = error
    }
}

/// The direction of a transfer: `get` downloads, `put` uploads.
package enum TransferDirection: String, Codable, CaseIterable, Sendable {
    case get, put
}

/// The state of a transfer.
package enum TransferState: String, Codable, CaseIterable, Sendable {
    case queued, waiting, running, verifying, moving, paused, done, failed, cancelled

    /// Whether the state is final.
    package var isOver: Bool {
        switch self {
        case .done, .failed, .cancelled: true
        case .queued, .waiting, .running, .verifying, .moving, .paused: false
        }
    }
}

/// The condition that a transfer waits for.
package enum TransferWait: String, Codable, CaseIterable, Sendable {
    case network, power, disk
    /// The delay before the next attempt.
    case backoff
    /// The load of the machine: it is busy.
    case limiter
}

/// The treatment of an existing file at the destination of a download.
package enum ExistingFile: String, Codable, CaseIterable, Sendable {
    /// The new file replaces it atomically.
    case overwrite
    /// It stays, and the transfer fails.
    case fail
    /// It stays, and the new file gets a number after its name.
    case rename
}

/// An event of a transfer, kept until it is acknowledged.
package struct TransferEvent: Codable, Hashable, Sendable {
    /// The number of the event in its session, ascending.
    package var seq: Int
    package var session: String
    /// The id of the transfer; absent for `all-events-delivered`.
    package var transfer: Int?
    /// `done`, `failed` or `cancelled`; `all-events-delivered` at the end.
    package var state: String
    package var at: Date

    /// Creates a transfer event.
    package init(seq: Int, session: String, transfer: Int?, state: String, at: Date) {
        self.seq = seq
        self.session = session
        self.transfer = transfer
        self.state = state
        self.at = at
    }
}
