package import FoundationEssentials

/// A file on its way, in either direction.
package struct Transfer: Codable, Hashable, Sendable {
    package var id: Int
    package var session: String
    package var direction: TransferDirection
    package var url: String
    /// The absolute path of what comes or of what goes.
    package var destination: String
    package var state: TransferState
    /// Present while ``state`` is `waiting`.
    package var waitingFor: TransferWait?
    /// Bytes that are safe here (`get`), or that the server has (`put`).
    package var received: Int64
    /// Absent until it is known.
    package var total: Int64?
    /// Attempts since the last byte that was new.
    package var attempts: Int
    /// How often it had to begin at the first byte again.
    package var restarts: Int
    /// Whether it waits for power and for a network that costs nothing.
    package var discretionary: Bool
    /// Why it failed, or what the last attempt met.
    package var error: String?

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
        attempts: Int = 0,
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
        self.attempts = attempts
        self.restarts = restarts
        self.discretionary = discretionary
        self.error = error
    }
}

package enum TransferDirection: String, Codable, CaseIterable, Sendable {
    case get, put
}

package enum TransferState: String, Codable, CaseIterable, Sendable {
    case queued, waiting, running, verifying, moving, paused, done, failed, cancelled

    /// Whether nothing happens to it any more.
    package var isOver: Bool {
        switch self {
        case .done, .failed, .cancelled: true
        case .queued, .waiting, .running, .verifying, .moving, .paused: false
        }
    }
}

/// What a transfer waits for.
package enum TransferWait: String, Codable, CaseIterable, Sendable {
    case network, power, disk
    /// The time between two attempts.
    case backoff
    /// Its turn, or its part of the bandwidth.
    case limiter
}

/// What becomes of a file that is already where a transfer would put its own.
package enum ExistingFile: String, Codable, CaseIterable, Sendable {
    /// The new one takes its place, all at once.
    case overwrite
    /// It stays, and the transfer fails.
    case fail
    /// It stays, and the new one gets a number behind its name.
    case rename
}

/// What happened to a transfer, kept until its session says that it was seen.
package struct TransferEvent: Codable, Hashable, Sendable {
    /// Counts up in its session.
    package var seq: Int
    package var session: String
    /// The id of the transfer; absent in the one that says that all were delivered.
    package var transfer: Int?
    /// `done`, `failed` or `cancelled`; `all-events-delivered` at the end.
    package var state: String
    package var at: Date

    package init(seq: Int, session: String, transfer: Int?, state: String, at: Date) {
        self.seq = seq
        self.session = session
        self.transfer = transfer
        self.state = state
        self.at = at
    }
}
