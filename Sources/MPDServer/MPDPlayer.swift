package import BackgrounderAPI

/// The player, as the protocol needs it.
///
/// Every call answers at once, whatever a disk or the sound server do, and has been stored when it answers. Errors are
/// ``MPDPlayerError``.
package protocol MPDPlayer: Sendable {
    func status() async -> MPDPlayerStatus

    // MARK: Playing

    /// Plays on from a pause, else from the start of the current item, or of the first one.
    func play() async throws
    /// Plays an item from its start.
    func play(id: Int) async throws
    func pause() async throws
    func stop() async throws
    func next() async throws
    func previous() async throws
    /// Goes to a time of an item, in seconds; the player goes on as before, and plays where it was stopped.
    func seek(id: Int, to seconds: Double) async throws
    func set(_ change: MPDOptionChange) async throws
    func clearError() async

    // MARK: The queue

    /// The items at these positions, as far as there are any.
    func items(in range: Range<Int>) async -> [PlayerItem]
    func item(id: Int) async -> PlayerItem?
    /// What is not as it was at `version`; all items where that is too long ago or still to come.
    func items(changedSince version: Int) async -> [PlayerItem]
    /// Puts files, by their absolute paths, before `position` or at the end: all of them or none. Their ids, in order.
    func add(_ paths: [String], at position: Int?) async throws -> [Int]
    func remove(positions: Range<Int>) async throws
    func remove(id: Int) async throws
    /// Brings the items at `range` to `position`, as it is counted when they have been taken out.
    func move(_ range: Range<Int>, to position: Int) async throws
    func swap(id: Int, with other: Int) async throws
    /// Mixes the items at these positions.
    func shuffle(_ range: Range<Int>) async throws
    func clear() async throws
}

/// All that `status` shows, of one moment.
package struct MPDPlayerStatus: Sendable {
    package var audio: AudioStatus
    /// Another number after each change of the queue.
    package var queueVersion: Int
    package var queueLength: Int
    /// What will follow the current item.
    package var nextItem: PlayerItem?

    package init(
        audio: AudioStatus,
        queueVersion: Int,
        queueLength: Int,
        nextItem: PlayerItem? = nil
    ) {
        self.audio = audio
        self.queueVersion = queueVersion
        self.queueLength = queueLength
        self.nextItem = nextItem
    }
}

/// The options that are to change; the others stay.
package struct MPDOptionChange: Hashable, Sendable {
    /// 0 to 100.
    package var volume: Int?
    package var `repeat`: Bool?
    package var random: Bool?
    package var single: SingleMode?
    package var consume: Bool?
    package var replayGain: ReplayGainMode?

    package init(
        volume: Int? = nil,
        repeat: Bool? = nil,
        random: Bool? = nil,
        single: SingleMode? = nil,
        consume: Bool? = nil,
        replayGain: ReplayGainMode? = nil
    ) {
        self.volume = volume
        self.repeat = `repeat`
        self.random = random
        self.single = single
        self.consume = consume
        self.replayGain = replayGain
    }
}

package enum MPDPlayerError: Error, Hashable, Sendable {
    /// Skipping and seeking need an item that is playing or paused.
    case notPlaying
    case noSuchItem
    /// A file that is not there, or cannot be played.
    case noSuchFile(String)
    case badPosition
    case queueFull
    /// In the player's words.
    case failed(String)
}
