package import BackgrounderAPI

/// The action at the end of an item, in AVFoundation's terms.
package enum ActionAtItemEnd: String, Codable, CaseIterable, Sendable {
    case advance, pause
    /// The item stays current, at its end.
    case none
}

/// The settings of the player, which survive a restart.
package struct PlayerOptions: Codable, Hashable, Sendable {
    /// The volume, 0 to 100. The gain is its cube.
    package var volume = 100
    package var `repeat` = false
    package var single = SingleMode.off
    package var consume = false
    package var random = false
    package var replayGain = ReplayGainMode.off
    package var actionAtItemEnd = ActionAtItemEnd.advance
    /// While false nothing sounds: the player pauses instead of playing.
    package var outputEnabled = true

    /// Creates options; each default is that of a new player.
    package init(
        volume: Int = 100,
        repeat: Bool = false,
        single: SingleMode = .off,
        consume: Bool = false,
        random: Bool = false,
        replayGain: ReplayGainMode = .off,
        actionAtItemEnd: ActionAtItemEnd = .advance,
        outputEnabled: Bool = true
    ) {
        self.volume = volume
        self.repeat = `repeat`
        self.single = single
        self.consume = consume
        self.random = random
        self.replayGain = replayGain
        self.actionAtItemEnd = actionAtItemEnd
        self.outputEnabled = outputEnabled
    }

    /// The gain to apply: `auto` resolves to the track's gain while `random` is on, and else to the album's.
    var effectiveReplayGain: ReplayGainMode {
        replayGain == .auto ? (random ? .track : .album) : replayGain
    }
}

extension PlayerOptions {
    /// Decodes stored options. An option that an older version did not have gets its default.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        volume = try container.decode(Int.self, forKey: .volume)
        `repeat` = try container.decode(Bool.self, forKey: .repeat)
        single = try container.decode(SingleMode.self, forKey: .single)
        consume = try container.decode(Bool.self, forKey: .consume)
        random = try container.decode(Bool.self, forKey: .random)
        replayGain = try container.decodeIfPresent(ReplayGainMode.self, forKey: .replayGain) ?? .off
        actionAtItemEnd = try container.decode(ActionAtItemEnd.self, forKey: .actionAtItemEnd)
        outputEnabled = try container.decodeIfPresent(Bool.self, forKey: .outputEnabled) ?? true
    }
}

/// The player's state without the items, as a restart restores it.
package struct PlayerState: Codable, Hashable, Sendable {
    /// The requested status: `playing`, `paused` or `stopped`, never `waiting`.
    package var timeControlStatus: TimeControlStatus
    package var currentItemID: Int?
    /// Seconds of the current item that have been heard.
    package var elapsed: Double
    package var options: PlayerOptions
    /// The id of the next new item. Ids are never reused.
    package var nextItemID: Int
    /// The number of the state; a ``PlayerPosition`` belongs to one state.
    package var generation: Int

    /// Creates a state; the defaults are those of a new player with an empty queue.
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

    /// Decodes a stored state. States of versions without `generation` get 0.
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
    /// Returns the state, advanced to a position that was stored after it.
    package func at(_ position: PlayerPosition?) -> PlayerState {
        guard let position, position.generation == generation, position.itemID == currentItemID else { return self }
        var state = self
        state.elapsed = position.elapsed
        return state
    }
}
