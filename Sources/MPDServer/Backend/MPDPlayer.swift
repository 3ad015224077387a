package import BackgrounderAPI

/// The player that MPD clients control.
///
/// Every call returns promptly, regardless of a slow disk or sound server, and its effect is stored when it returns.
/// Errors are ``MPDPlayerError``.
package protocol MPDPlayer: Sendable {
    /// Returns the player's state.
    func status() async -> MPDPlayerStatus

    // MARK: Playing

    /// Resumes after a pause; otherwise plays the current item, or the first one, from its start.
    func play() async throws
    /// Plays an item from its start.
    func play(id: Int) async throws
    /// Pauses playback.
    func pause() async throws
    /// Stops playback; the current item stays current.
    func stop() async throws
    /// Plays the next item.
    func next() async throws
    /// Plays the previous item.
    func previous() async throws
    /// Seeks to a time of an item, in seconds. A stopped player starts; otherwise it keeps playing or stays paused.
    func seek(id: Int, to seconds: Double) async throws
    /// Applies a change of the options.
    func set(_ change: MPDOptionChange) async throws
    /// Clears the last error.
    func clearError() async

    // MARK: The queue

    /// Returns the items at these positions; positions beyond the end are ignored.
    func items(in range: Range<Int>) async -> [PlayerItem]
    /// Returns the item with this id; `nil` if there is none.
    func item(id: Int) async -> PlayerItem?
    /// Returns the items that changed since `version`; all items if that version is too old or in the future.
    func items(changedSince version: Int) async -> [PlayerItem]
    /// Inserts files, named by absolute paths, before `position` or at the end: all of them or none.
    ///
    /// - Returns: the ids of the new items, in order.
    func add(_ paths: [String], at position: Int?) async throws -> [Int]
    /// Removes the items at these positions.
    func remove(positions: Range<Int>) async throws
    /// Removes the item with this id.
    func remove(id: Int) async throws
    /// Moves the items at `range` to `position`, which is counted without them.
    func move(_ range: Range<Int>, to position: Int) async throws
    /// Swaps two items.
    func swap(id: Int, with other: Int) async throws
    /// Shuffles the items at these positions.
    func shuffle(_ range: Range<Int>) async throws
    /// Sets the priority of items, 0 to 255: while `random` is on, higher ones are played first.
    func prioritise(ids: [Int], _ priority: Int) async throws
    /// Removes all items.
    func clear() async throws
}

/// The player's state at one moment, for the command `status`.
package struct MPDPlayerStatus: Sendable {
    package var audio: AudioStatus
    /// A number that differs after each change of the queue.
    package var queueVersion: Int
    package var queueLength: Int
    /// The item that will follow the current one.
    package var nextItem: PlayerItem?
    /// The music that was played since the start, in seconds.
    package var playtime: Double

    /// Creates a state from its parts.
    package init(
        audio: AudioStatus,
        queueVersion: Int,
        queueLength: Int,
        nextItem: PlayerItem? = nil,
        playtime: Double = 0
    ) {
        self.audio = audio
        self.queueVersion = queueVersion
        self.queueLength = queueLength
        self.nextItem = nextItem
        self.playtime = playtime
    }
}

/// A change of the player's options; options that are `nil` stay as they are.
package struct MPDOptionChange: Hashable, Sendable {
    /// 0 to 100.
    package var volume: Int?
    package var `repeat`: Bool?
    package var random: Bool?
    package var single: SingleMode?
    package var consume: Bool?
    package var replayGain: ReplayGainMode?
    package var outputEnabled: Bool?

    /// Creates a change of the options that are not `nil`.
    package init(
        volume: Int? = nil,
        repeat: Bool? = nil,
        random: Bool? = nil,
        single: SingleMode? = nil,
        consume: Bool? = nil,
        replayGain: ReplayGainMode? = nil,
        outputEnabled: Bool? = nil
    ) {
        self.volume = volume
        self.repeat = `repeat`
        self.random = random
        self.single = single
        self.consume = consume
        self.replayGain = replayGain
        self.outputEnabled = outputEnabled
    }
}

/// An error of the player, which the protocol reports in MPD's words.
package enum MPDPlayerError: Error, Hashable, Sendable {
    /// Skipping and seeking need an item that is playing or paused.
    case notPlaying
    case noSuchItem
    /// The file does not exist or cannot be played.
    case noSuchFile(String)
    case badPosition
    case queueFull
    /// Any other error, in the player's words.
    case failed(String)
}
