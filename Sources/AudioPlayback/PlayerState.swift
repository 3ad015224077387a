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
    package var actionAtItemEnd = ActionAtItemEnd.advance

    package init(
        volume: Int = 100,
        repeat: Bool = false,
        single: SingleMode = .off,
        consume: Bool = false,
        random: Bool = false,
        actionAtItemEnd: ActionAtItemEnd = .advance
    ) {
        self.volume = volume
        self.repeat = `repeat`
        self.single = single
        self.consume = consume
        self.random = random
        self.actionAtItemEnd = actionAtItemEnd
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

    package init(
        timeControlStatus: TimeControlStatus = .stopped,
        currentItemID: Int? = nil,
        elapsed: Double = 0,
        options: PlayerOptions = PlayerOptions(),
        nextItemID: Int = 1
    ) {
        self.timeControlStatus = timeControlStatus
        self.currentItemID = currentItemID
        self.elapsed = elapsed
        self.options = options
        self.nextItemID = nextItemID
    }
}
