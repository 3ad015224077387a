package import BackgrounderAPI
package import FoundationEssentials

/// Everything that a restart must give back besides the points themselves.
package struct LocationCheckpoint: Codable, Hashable, Sendable {
    package var filter: LocationFilter
    package var counts: LocationCounts
    package var lastRejection: Rejection?
    /// Where the replay of a file stands; `nil` for a live source.
    package var replay: ReplayProgress?
    /// Which source the filter was fed from, without the rate.
    package var source: String
    /// Whether updates are wanted.
    package var updating: Bool
    /// The trips of the points that are stored; `nil` in states of versions that had none.
    package var trips: TripRecorder?

    package init(
        filter: LocationFilter = LocationFilter(),
        counts: LocationCounts = LocationCounts(),
        lastRejection: Rejection? = nil,
        replay: ReplayProgress? = nil,
        source: String = "",
        updating: Bool = true
    ) {
        self.filter = filter
        self.counts = counts
        self.lastRejection = lastRejection
        self.replay = replay
        self.source = source
        self.updating = updating
    }
}

/// What became of every fix since the state began.
package struct LocationCounts: Codable, Hashable, Sendable {
    package var accepted = 0
    package var rejected = RejectionCounts()
    /// Of the accepted those that had no room in memory while the journal could not be written.
    package var dropped = 0

    package init() {}

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        accepted = try container.decode(Int.self, forKey: .accepted)
        rejected = try container.decode(RejectionCounts.self, forKey: .rejected)
        // States of earlier versions have none.
        dropped = try container.decodeIfPresent(Int.self, forKey: .dropped) ?? 0
    }

    package var received: Int { accepted + rejected.total }
}

/// Where the replay of a file stands.
package struct ReplayProgress: Codable, Hashable, Sendable {
    /// What the run ended with; none while it goes on, and after a crash.
    package enum Ending: String, Codable, Sendable {
        case finished, stopped
    }

    package var path: String
    package var rate: ReplayRate
    /// Points of the file that were received in this run.
    package var received: Int
    /// When the run began, wall clock: points before the file's first time count from it.
    package var start: Date
    package var ending: Ending?

    package init(path: String, rate: ReplayRate, received: Int = 0, start: Date, ending: Ending? = nil) {
        self.path = path
        self.rate = rate
        self.received = received
        self.start = start
        self.ending = ending
    }
}

/// Keeps accepted points and the checkpoint that belongs to them.
package protocol LocationJournal: Sendable {
    /// Stores all of it in one transaction, with the `trips` that changed by the points; after a crash it is there or nothing of it.
    ///
    /// `isLive` says that a receiver made them just now, so that their times are GPS time. `durable` says that a power cut must not
    /// take them for longer than the configured interval. Throws when nothing was stored. Blocks, on a thread that may; one call
    /// after the other.
    func commit(
        _ accepted: [Location],
        isLive: Bool,
        trips: [TripRecord],
        checkpoint: LocationCheckpoint,
        durable: Bool
    ) throws
}

/// What happened to the location mode; posted once it is stored.
package enum LocationEvent: Hashable, Sendable {
    /// Accepted at once; at least one.
    case locations([Location])
    /// Fixes were rejected; nothing else of the status is another.
    case counted
    /// Something of the status that no location carries.
    case changed
}
