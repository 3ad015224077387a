/// `PATCH /v1/location`: what is absent stays as it is.
package struct LocationChange: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)
    package static let nullableKeys = [CodingKeys.maximumAccuracy.rawValue]

    package var updating: Bool?
    package var desiredAccuracy: DesiredAccuracy?
    /// Metres, from 0 on; 0 delivers every fix.
    package var distanceFilter: Double?
    /// `.some(nil)`, in JSON `null`, takes the strict gate away.
    package var maximumAccuracy: Double??

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

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        updating = try container.decodeIfPresent(Bool.self, forKey: .updating)
        desiredAccuracy = try container.decodeIfPresent(DesiredAccuracy.self, forKey: .desiredAccuracy)
        distanceFilter = try container.decodeIfPresent(Double.self, forKey: .distanceFilter)
        if container.contains(.maximumAccuracy) {
            maximumAccuracy = .some(try container.decodeIfPresent(Double.self, forKey: .maximumAccuracy))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(updating, forKey: .updating)
        try container.encodeIfPresent(desiredAccuracy, forKey: .desiredAccuracy)
        try container.encodeIfPresent(distanceFilter, forKey: .distanceFilter)
        if let maximumAccuracy { try container.encode(maximumAccuracy, forKey: .maximumAccuracy) }
    }
}

/// `PATCH /v1/audio`: what is absent stays as it is.
package struct AudioChange: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// 0 to 100.
    package var volume: Int?
    package var `repeat`: Bool?
    package var single: SingleMode?
    package var consume: Bool?
    package var random: Bool?
    package var replayGain: ReplayGainMode?

    package init(
        volume: Int? = nil,
        repeat: Bool? = nil,
        single: SingleMode? = nil,
        consume: Bool? = nil,
        random: Bool? = nil,
        replayGain: ReplayGainMode? = nil
    ) {
        self.volume = volume
        self.repeat = `repeat`
        self.single = single
        self.consume = consume
        self.random = random
        self.replayGain = replayGain
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case volume, `repeat`, single, consume, random, replayGain
    }
}

/// `POST /v1/audio/play`: goes on, or plays the item with this id, or adds these files and plays the first of them.
package struct PlayRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var id: Int?
    /// Absolute paths of files and folders.
    package var items: [String]?

    package init(id: Int? = nil, items: [String]? = nil) {
        self.id = id
        self.items = items
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, items
    }
}

/// `POST /v1/audio/interrupt`: a file that plays now, over the music or instead of it.
package struct InterruptRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// The absolute path of a file.
    package var item: String
    /// 0 to 1: the music goes on at this part of its loudness; without it, it is held.
    package var duck: Double?
    /// The higher one is first; 0 where none is given.
    package var priority: Int?

    package init(item: String, duck: Double? = nil, priority: Int? = nil) {
        self.item = item
        self.duck = duck
        self.priority = priority
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case item, duck, priority
    }
}

/// `POST /v1/audio/seek`: to a time of the current item or by a difference, in seconds; just one of the two.
package struct SeekRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var to: Double?
    package var by: Double?

    package init(to: Double) {
        self.to = to
    }

    package init(by: Double) {
        self.by = by
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case to, by
    }
}

/// `POST /v1/queue`: adds files, folders and playlists: at the end, from `position` on, or `after` something.
package struct EnqueueRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package enum Neighbour: String, Codable, CaseIterable, Sendable {
        /// The item that is current when the request is carried out; in front where there is none.
        case current
    }

    /// Absolute paths.
    package var items: [String]
    package var position: Int?
    package var after: Neighbour?

    package init(items: [String], position: Int? = nil, after: Neighbour? = nil) {
        self.items = items
        self.position = position
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case items, position, after
    }
}

/// `PATCH /v1/queue/{id}`.
package struct MoveRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var position: Int

    package init(position: Int) {
        self.position = position
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case position
    }
}

/// `POST /v1/queue/remove`.
package struct RemoveRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// Of the items; one that is given twice counts once.
    package var ids: [Int]

    package init(ids: [Int]) {
        self.ids = ids
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case ids
    }
}

/// The service's process.
package struct ProcessReply: Codable, Hashable, Sendable {
    package var pid: Int32

    package init(pid: Int32) {
        self.pid = pid
    }
}

/// Keys of the configuration that changed, by what became of the change.
package struct ReloadReply: Codable, Hashable, Sendable {
    package var applied: [String]
    package var needsRestart: [String]

    package init(applied: [String], needsRestart: [String]) {
        self.applied = applied
        self.needsRestart = needsRestart
    }
}
