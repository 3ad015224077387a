package import FoundationEssentials

/// The state of the location mode and the decisions about all fixes.
package struct LocationStatus: Codable, Hashable, Sendable {
    package var updating: Bool
    package var source: String
    package var connection: SourceConnection
    /// Why the configuration turns the mode off, in one line; absent if the mode may work.
    package var offReason: String?
    /// Absent while the source is off.
    package var quality: FixQuality?
    /// The reason for `quality`, with value and limit, in one sentence.
    package var qualityDetail: String?
    package var desiredAccuracy: DesiredAccuracy
    /// The accuracy that the level asks for, in metres.
    package var target: Double
    /// The accuracy up to which the level accepts fixes, in metres; absent if it accepts all.
    package var acceptLimit: Double?
    /// The strict limit beside the level's, in metres; absent if there is none.
    package var maximumAccuracy: Double?
    /// Metres between points; 0 delivers every fix.
    package var distanceFilter: Double
    package var jitterGuard: Bool
    /// Always `accepted` plus the sum of `rejected`.
    package var received: Int
    package var accepted: Int
    package var rejected: RejectionCounts
    /// Accepted points that are in the database. Always `accepted` minus `waiting` and `dropped`.
    package var stored: Int
    /// Accepted points that wait in memory because the database cannot be written.
    package var waiting: Int
    /// Accepted points that were lost because too many waited in memory.
    package var dropped: Int
    /// The problems of the storage; absent if there are none.
    package var health: StorageHealth?
    /// The newest point.
    package var lastFix: Location?
    package var lastRejection: Rejection?
    /// Points in the rolling track, at most 100.
    package var trackCount: Int
    /// The trip in progress; absent if there is none.
    package var trip: TripProgress?

    /// Creates a location status.
    package init(
        updating: Bool,
        source: String,
        connection: SourceConnection,
        offReason: String? = nil,
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
        trackCount: Int,
        trip: TripProgress? = nil
    ) {
        self.updating = updating
        self.source = source
        self.connection = connection
        self.offReason = offReason
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
        self.trip = trip
    }
}

/// The connection to the location source.
package enum SourceConnection: String, Codable, Sendable {
    /// gpsd answers.
    case connected
    /// gpsd does not answer; the service retries.
    case waiting
    /// A file is being read.
    case replaying
    /// The file has been read to its end.
    case finished
    /// Updates are stopped, the undeclared mode is suspended, or the configuration turns the mode off.
    case off
}

/// How well fixes arrive. It is only reported, and never changes which points are delivered.
package enum FixQuality: String, Codable, Sendable {
    /// Reports arrive, but no fix yet.
    case searching
    case ok
    /// Fixes arrived for 30 s, and none was accepted.
    case starved
    /// Connected, and no report for 5 s.
    case silent
    /// gpsd has no receiver.
    case noDevice
    case disconnected
}

/// Why a fix was rejected, in the order in which the rules apply.
package enum RejectionReason: String, Codable, CaseIterable, Sendable {
    case noFix, invalid, device, noAccuracy, accuracy, duplicate, outOfOrder, implausible, distance, jitter

    /// The unit of the decisive value and its limit.
    package var unit: String {
        switch self {
        case .outOfOrder: "s"
        case .implausible: "m/s"
        default: "m"
        }
    }
}

/// A rejected fix. `value` is its decisive value and `limit` the allowed one, in the unit of the reason (metres, metres per second,
/// seconds); both are absent if the reason has no number.
package struct Rejection: Codable, Hashable, Sendable {
    package var reason: RejectionReason
    package var value: Double?
    package var limit: Double?
    /// The time of the fix.
    package var timestamp: Date?

    /// Creates a rejection.
    package init(reason: RejectionReason, value: Double? = nil, limit: Double? = nil, timestamp: Date? = nil) {
        self.reason = reason
        self.value = value
        self.limit = limit
        self.timestamp = timestamp
    }
}

/// The numbers of rejected fixes by reason; in JSON an object with every reason as a key.
package struct RejectionCounts: Codable, Hashable, Sendable {
    private var counts: [Int]

    /// Creates counts of zero.
    package init() {
        counts = Array(repeating: 0, count: RejectionReason.allCases.count)
    }

    /// The number of fixes that were rejected for `reason`.
    package subscript(reason: RejectionReason) -> Int {
        get { counts[Self.index(reason)] }
        set { counts[Self.index(reason)] = newValue }
    }

    package var total: Int { counts.reduce(0, +) }

    /// Decodes an object with a number for each reason; a missing reason counts zero.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.singleValueContainer().decode([String: Int].self)
        self.init()
        for reason in RejectionReason.allCases { self[reason] = values[reason.rawValue] ?? 0 }
    }

    /// Encodes an object with every reason, also those with zero.
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
