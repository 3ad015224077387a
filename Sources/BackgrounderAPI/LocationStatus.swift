package import FoundationEssentials

/// What the location mode is doing and what became of every fix it received.
package struct LocationStatus: Codable, Hashable, Sendable {
    package var updating: Bool
    package var source: String
    package var connection: SourceConnection
    /// Absent while the source is off.
    package var quality: FixQuality?
    /// One sentence for people: the reason, the value and the limit behind `quality`.
    package var qualityDetail: String?
    package var desiredAccuracy: DesiredAccuracy
    /// Metres that the level asks for.
    package var target: Double
    /// Metres that the level accepts; absent where it accepts all.
    package var acceptLimit: Double?
    /// The strict gate beside the level's, metres.
    package var maximumAccuracy: Double?
    /// Metres; 0 delivers every fix.
    package var distanceFilter: Double
    package var jitterGuard: Bool
    /// Always `accepted` plus the sum of `rejected`.
    package var received: Int
    package var accepted: Int
    package var rejected: RejectionCounts
    /// Accepted points that are in the database. Always `accepted` minus `waiting` and `dropped`.
    package var stored: Int
    /// Accepted points that wait in memory, since the database cannot be written.
    package var waiting: Int
    /// Accepted points that had no room in memory while the database could not be written, and are lost.
    package var dropped: Int
    /// What is wrong with the storage; absent while nothing is.
    package var health: StorageHealth?
    /// The newest accepted one.
    package var lastFix: Location?
    package var lastRejection: Rejection?
    /// Points in the rolling track, at most 100.
    package var trackCount: Int

    package init(
        updating: Bool,
        source: String,
        connection: SourceConnection,
        quality: FixQuality? = nil,
        qualityDetail: String? = nil,
        desiredAccuracy: DesiredAccuracy,
        target: Double,
        acceptLimit: Double? = nil,
        maximumAccuracy: Double? = nil,
        distanceFilter: Double,
        jitterGuard: Bool,
        received: Int,
        accepted: Int,
        rejected: RejectionCounts,
        waiting: Int = 0,
        dropped: Int = 0,
        health: StorageHealth? = nil,
        lastFix: Location? = nil,
        lastRejection: Rejection? = nil,
        trackCount: Int
    ) {
        self.updating = updating
        self.source = source
        self.connection = connection
        self.quality = quality
        self.qualityDetail = qualityDetail
        self.desiredAccuracy = desiredAccuracy
        self.target = target
        self.acceptLimit = acceptLimit
        self.maximumAccuracy = maximumAccuracy
        self.distanceFilter = distanceFilter
        self.jitterGuard = jitterGuard
        self.received = received
        self.accepted = accepted
        self.rejected = rejected
        self.waiting = waiting
        self.dropped = dropped
        stored = accepted - waiting - dropped
        self.health = health
        self.lastFix = lastFix
        self.lastRejection = lastRejection
        self.trackCount = trackCount
    }
}

/// How the service stands with its source of fixes.
package enum SourceConnection: String, Codable, Sendable {
    /// gpsd answers.
    case connected
    /// gpsd does not answer; the next attempt is scheduled.
    case waiting
    /// A file is being read.
    case replaying
    /// The file is at its end.
    case finished
    /// Nothing is wanted: stopped, or suspended as an undeclared mode.
    case off
}

/// How well fixes come in; it is only reported and never changes what is delivered.
package enum FixQuality: String, Codable, Sendable {
    /// Reports, but no fix yet.
    case searching
    case ok
    /// Fixes for 30 s, and none good enough.
    case starved
    /// Connected, and no report for 5 s.
    case silent
    /// gpsd has no receiver.
    case noDevice
    case disconnected
}

/// Why a fix was not taken, in the order in which the reasons are tried.
package enum RejectionReason: String, Codable, CaseIterable, Sendable {
    case noFix, invalid, device, noAccuracy, accuracy, duplicate, outOfOrder, implausible, distance, jitter

    /// The unit of what decided and of its limit.
    package var unit: String {
        switch self {
        case .outOfOrder: "s"
        case .implausible: "m/s"
        default: "m"
        }
    }
}

/// A fix that was not taken: `value` is what it had and `limit` what was allowed, in the unit of the reason (metres, metres
/// a second, seconds); both are absent where the reason has no number.
package struct Rejection: Codable, Hashable, Sendable {
    package var reason: RejectionReason
    package var value: Double?
    package var limit: Double?
    /// The fix's own time.
    package var timestamp: Date?

    package init(reason: RejectionReason, value: Double? = nil, limit: Double? = nil, timestamp: Date? = nil) {
        self.reason = reason
        self.value = value
        self.limit = limit
        self.timestamp = timestamp
    }
}

/// Fixes that were not taken, by reason; in JSON an object with every reason as a key.
package struct RejectionCounts: Codable, Hashable, Sendable {
    private var counts: [Int]

    package init() {
        counts = Array(repeating: 0, count: RejectionReason.allCases.count)
    }

    package subscript(reason: RejectionReason) -> Int {
        get { counts[Self.index(reason)] }
        set { counts[Self.index(reason)] = newValue }
    }

    package var total: Int { counts.reduce(0, +) }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.singleValueContainer().decode([String: Int].self)
        self.init()
        for reason in RejectionReason.allCases { self[reason] = values[reason.rawValue] ?? 0 }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let pairs = RejectionReason.allCases.map { ($0.rawValue, self[$0]) }
        try container.encode(Dictionary(uniqueKeysWithValues: pairs))
    }

    private static func index(_ reason: RejectionReason) -> Int {
        switch reason {
        case .noFix: 0
        case .invalid: 1
        case .device: 2
        case .noAccuracy: 3
        case .accuracy: 4
        case .duplicate: 5
        case .outOfOrder: 6
        case .implausible: 7
        case .distance: 8
        case .jitter: 9
        }
    }
}
