package import BackgrounderAPI

/// What happens when an item has been played to its end; AVFoundation's words.
package enum ActionAtItemEnd: String, Codable, CaseIterable, Sendable {
    case advance, pause
    /// Nothing follows: the item stays the current one at its end.
    case none
}

/// The settings of the player, which survive a restart.
package struct PlayerOptions: Codable, Hashable, Sendable {
    /// 0 to 100; what is heard is its cube.
    package var volume = 100
    package var `repeat` = false
    package var single = SingleMode.off
    package var consume = false
    package var random = false
    package var replayGain = ReplayGainMode.off
    package var actionAtItemEnd = ActionAtItemEnd.advance

    package init(
        volume: Int = 100,
        repeat: Bool = false,
        single: SingleMode = .off,
        consume: Bool = false,
        random: Bool = false,
        replayGain: ReplayGainMode = .off,
        actionAtItemEnd: ActionAtItemEnd = .advance
    ) {
        self.volume = volume
        self.repeat = `repeat`
        self.single = single
        self.consume = consume
        self.random = random
        self.replayGain = replayGain
        self.actionAtItemEnd = actionAtItemEnd
    }

    /// `auto` is the track's gain where tracks of many albums follow each other, and else the album's.
    var effectiveReplayGain: ReplayGainMode {
        replayGain == .auto ? (random ? .track : .album) : replayGain
    }
}

extension PlayerOptions {
    /// States of versions before an option was there lack it.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        volume = try container.decode(Int.self, forKey: .volume)
        `repeat` = try container.decode(Bool.self, forKey: .repeat)
        single = try container.decode(SingleMode.self, forKey: .single)
        consume = try container.decode(Bool.self, forKey: .consume)
        random = try container.decode(Bool.self, forKey: .random)
        replayGain = try container.decodeIfPresent(ReplayGainMode.self, forKey: .replayGain) ?? .off
        actionAtItemEnd = try container.decode(ActionAtItemEnd.self, forKey: .actionAtItemEnd)
    }
}

/// All of the player but the items themselves: what a restart must give back.
package struct PlayerState: Codable, Hashable, Sendable {
    /// What was asked for: `playing`, `paused` or `stopped`, never `waiting`.
    package var timeControlStatus: TimeControlStatus
    package var currentItemID: Int?
    /// Seconds of the current item that have been heard.
    package var elapsed: Double
    package var options: PlayerOptions
    /// The id that the next new item gets; no id is given twice.
    package var nextItemID: Int
    /// Counts the states; a ``PlayerPosition`` belongs to one of them.
    package var generation: Int

    package init(
        timeControlStatus: TimeControlStatus = .stopped,
        currentItemID: Int? = nil,
        elapsed: Double = 0,
        options: PlayerOptions = PlayerOptions(),
        nextItemID: Int = 1,
        generation: Int = 0
    ) {
        self.timeControlStatus = timeControlStatus
        self.currentItemID = currentItemID
        self.elapsed = elapsed
        self.options = options
        self.nextItemID = nextItemID
        self.generation = generation
    }

    /// States of versions before there was a generation lack it.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        timeControlStatus = try container.decode(TimeControlStatus.self, forKey: .timeControlStatus)
        currentItemID = try container.decodeIfPresent(Int.self, forKey: .currentItemID)
        elapsed = try container.decode(Double.self, forKey: .elapsed)
        options = try container.decode(PlayerOptions.self, forKey: .options)
        nextItemID = try container.decode(Int.self, forKey: .nextItemID)
        generation = try container.decodeIfPresent(Int.self, forKey: .generation) ?? 0
    }
}

extension PlayerState {
    /// The state with the position that was kept after it.
    package func at(_ position: PlayerPosition?) -> PlayerState {
        guard let position, position.generation == generation, position.itemID == currentItemID else { return self }
        var state = self
        state.elapsed = position.elapsed
        return state
    }
}
