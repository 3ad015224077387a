package import BackgrounderAPI
package import FoundationEssentials
package import SystemSupport

/// The state that a restart restores, besides the points themselves.
package struct LocationCheckpoint: Codable, Hashable, Sendable {
    package var filter: LocationFilter
    package var counts: LocationCounts
    var lastRejection: Rejection?
    /// The progress of a replay; `nil` for a live source.
    package var replay: ReplayProgress?
    /// The source that fed the filter, without a replay rate.
    var source: String
    /// Whether updates are on.
    var updating: Bool
    /// The trips of the stored points; `nil` in checkpoints of versions without trips.
    var trips: TripRecorder?

    /// Creates a checkpoint; by default that of a service that starts for the first time.
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

    /// Makes the next fixes those of `source`, which are not compared with earlier ones. A replay starts from the
    /// beginning.
    mutating func changeSource(to source: LocationSource) {
        self.source = source.identity
        replay = nil
        _ = filter.receive(.sourceChanged)
    }
}

/// The decisions about all fixes since the state was created.
package struct LocationCounts: Codable, Hashable, Sendable {
    package var accepted = 0
    package var rejected = RejectionCounts()
    /// Accepted points that were dropped because too many waited in memory while the journal could not be written.
    var dropped = 0

    /// Creates counts of zero.
    package init() {}

    /// Decodes counts of this version or of one that did not count dropped points.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        accepted = try container.decode(Int.self, forKey: .accepted)
        rejected = try container.decode(RejectionCounts.self, forKey: .rejected)
        // Checkpoints of earlier versions have none.
        dropped = try container.decodeIfPresent(Int.self, forKey: .dropped) ?? 0
    }

    package var received: Int { accepted + rejected.total }
}

/// The progress of a replay.
package struct ReplayProgress: Codable, Hashable, Sendable {
    /// How the run ended. There is none while it continues and after a crash.
    package enum Ending: String, Codable, Sendable {
        case finished, stopped
    }

    var path: String
    var rate: ReplayRate
    /// How many points of the file were received in this run.
    var received: Int
    /// The wall clock at the start of the run: points before the file's first time count from it.
    var start: Date
    package var ending: Ending?

    /// Creates the progress of a run that begins at `start`, or that has reached `received` points.
    package init(path: String, rate: ReplayRate, received: Int = 0, start: Date, ending: Ending? = nil) {
        self.path = path
        self.rate = rate
        self.received = received
        self.start = start
        self.ending = ending
    }
}

/// Stores accepted points together with the checkpoint that belongs to them.
package protocol LocationJournal: Sendable {
    /// Stores the points, the trips that they changed and the checkpoint in one transaction.
    ///
    /// Called on a thread that may block, one call at a time.
    ///
    /// - Parameters:
    ///   - isLive: whether a receiver produced the points just now, so that their times are GPS time.
    ///   - durable: whether the transaction must survive a power cut after the configured interval.
    /// - Throws: an error if nothing was stored.
    func commit(
        _ accepted: [Location],
        isLive: Bool,
        trips: [TripRecord],
        checkpoint: LocationCheckpoint,
        durable: Bool
    ) throws
}

/// A fix that passed the gate and the rules of time, whether or not it is a point of the track.
package struct PassedFix: Hashable, Sendable {
    package var location: Location
    /// When it arrived, on a clock that never jumps; in a replay, the recorded time instead.
    package var arrival: MonotonicTime

    /// Creates a fix that passed.
    package init(location: Location, arrival: MonotonicTime) {
        self.location = location
        self.arrival = arrival
    }
}

/// A change of the location mode, posted after it was stored.
package enum LocationEvent: Hashable, Sendable {
    /// Points were accepted together; at least one. With `mayBlock`, the receiver may wait for a disk: the call comes from the
    /// source's thread.
    case locations([Location], mayBlock: Bool)
    /// Fixes passed the gate and the rules of time, at least one; those that were delivered are among them. Posted after
    /// `locations`.
    case passed([PassedFix])
    /// Fixes were rejected; nothing else of the status changed.
    case counted
    /// The status changed in a way that no point carries.
    case changed
}
