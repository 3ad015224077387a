/// The body of `PATCH /v1/location`; absent fields stay unchanged.
package struct LocationChange: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)
    package static let nullableKeys = [CodingKeys.maximumAccuracy.rawValue]

    package var updating: Bool?
    package var desiredAccuracy: DesiredAccuracy?
    /// Metres between points; 0 delivers every fix.
    package var distanceFilter: Double?
    /// The strict limit in metres; `.some(nil)`, in JSON `null`, removes it.
    package var maximumAccuracy: Double??

    /// Creates a location change.
    package init(
        updating: Bool? = nil,
        desiredAccuracy: DesiredAccuracy? = nil,
        distanceFilter: Double? = nil,
        maximumAccuracy: Double?? = nil
    ) {
        self.updating = updating
        self.desiredAccuracy = desiredAccuracy
        self.distanceFilter = distanceFilter
        self.maximumAccuracy = maximumAccuracy
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case updating, desiredAccuracy, distanceFilter, maximumAccuracy
    }

    /// Decodes the change; `null` for `maximumAccuracy` removes the limit, and its absence keeps it.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        updating = try container.decodeIfPresent(Bool.self, forKey: .updating)
        desiredAccuracy = try container.decodeIfPresent(DesiredAccuracy.self, forKey: .desiredAccuracy)
        distanceFilter = try container.decodeIfPresent(Double.self, forKey: .distanceFilter)
        if container.contains(.maximumAccuracy) {
            maximumAccuracy = .some(try container.decodeIfPresent(Double.self, forKey: .maximumAccuracy))
        }
    }

    /// Encodes only what changes.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(updating, forKey: .updating)
        try container.encodeIfPresent(desiredAccuracy, forKey: .desiredAccuracy)
        try container.encodeIfPresent(distanceFilter, forKey: .distanceFilter)
        if let maximumAccuracy { try container.encode(maximumAccuracy, forKey: .maximumAccuracy) }
    }
}

/// The body of `PATCH /v1/audio`; absent fields stay unchanged.
package struct AudioChange: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// 0 to 100.
    package var volume: Int?
    package var `repeat`: Bool?
    package var single: SingleMode?
    package var consume: Bool?
    package var random: Bool?
    package var replayGain: ReplayGainMode?
    package var outputEnabled: Bool?

    /// Creates an audio change.
    package init(
        volume: Int? = nil,
        repeat: Bool? = nil,
        single: SingleMode? = nil,
        consume: Bool? = nil,
        random: Bool? = nil,
        replayGain: ReplayGainMode? = nil,
        outputEnabled: Bool? = nil
    ) {
        self.volume = volume
        self.repeat = `repeat`
        self.single = single
        self.consume = consume
        self.random = random
        self.replayGain = replayGain
        self.outputEnabled = outputEnabled
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case volume, `repeat`, single, consume, random, replayGain, outputEnabled
    }
}

/// The body of `POST /v1/audio/play`: resumes, plays the item with this id, or adds these files and plays the first of them.
package struct PlayRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var id: Int?
    /// Absolute paths of files, folders and playlists.
    package var items: [String]?

    /// Creates a play request.
    package init(id: Int? = nil, items: [String]? = nil) {
        self.id = id
        self.items = items
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, items
    }
}

/// The body of `POST /v1/audio/interrupt`: plays a file now, over the music or instead of it.
package struct InterruptRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// The absolute path of a file.
    package var item: String
    /// The factor for the volume of the music meanwhile, 0 to 1; without it, the music is on hold.
    package var duck: Double?
    /// A higher priority plays first (default 0).
    package var priority: Int?

    /// Creates an interrupt request.
    package init(item: String, duck: Double? = nil, priority: Int? = nil) {
        self.item = item
        self.duck = duck
        self.priority = priority
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case item, duck, priority
    }
}

/// The body of `POST /v1/audio/seek`: a position in the current item or an offset, in seconds; exactly one of them.
package struct SeekRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var to: Double?
    package var by: Double?

    /// Creates a seek request.
    package init(to: Double) {
        self.to = to
    }

    /// Creates a seek request.
    package init(by: Double) {
        self.by = by
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case to, by
    }
}

/// The body of `POST /v1/queue`: adds files, folders and playlists at the end, at `position`, or `after` an item.
package struct EnqueueRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// The item after which the new ones are added.
    package enum Neighbour: String, Codable, CaseIterable, Sendable {
        /// The item that is current when the request is handled; without one, the beginning of the queue.
        case current
    }

    /// Absolute paths.
    package var items: [String]
    package var position: Int?
    package var after: Neighbour?

    /// Creates an enqueue request.
    package init(items: [String], position: Int? = nil, after: Neighbour? = nil) {
        self.items = items
        self.position = position
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case items, position, after
    }
}

/// The body of `PATCH /v1/queue/{id}`.
package struct MoveRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var position: Int

    /// Creates a move request.
    package init(position: Int) {
        self.position = position
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case position
    }
}

/// The body of `POST /v1/queue/remove`.
package struct RemoveRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// The ids of the items; duplicates are ignored.
    package var ids: [Int]

    /// Creates a remove request.
    package init(ids: [Int]) {
        self.ids = ids
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case ids
    }
}

/// The process of the service.
package struct ProcessReply: Codable, Hashable, Sendable {
    package var pid: Int32

    /// Creates a process reply.
    package init(pid: Int32) {
        self.pid = pid
    }
}

/// The number of entries that were removed from a list.
package struct ClearReply: Codable, Hashable, Sendable {
    package var removed: Int

    /// Creates a clear reply.
    package init(removed: Int) {
        self.removed = removed
    }
}

/// The configuration keys that changed: those that were applied, and those that need a restart.
package struct ReloadReply: Codable, Hashable, Sendable {
    package var applied: [String]
    package var needsRestart: [String]

    /// Creates a reload reply.
    package init(applied: [String], needsRestart: [String]) {
        self.applied = applied
        self.needsRestart = needsRestart
    }
}
