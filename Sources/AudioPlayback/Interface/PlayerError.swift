import SystemSupport

/// Why the player rejects a command.
package enum PlayerError: Error, Hashable, Sendable {
    case emptyQueue
    /// Seeking and skipping need an item that is playing or paused.
    case stopped
    case noSuchItem(id: Int)
    /// The limit of waiting announcements is reached.
    case tooManyAnnouncements(limit: Int)
    /// The audio mode is suspended.
    case suspended
    /// The sound output is disabled.
    case outputDisabled
    /// The queue would exceed its limit of items.
    case queueFull(limit: Int)
    /// A position outside of the queue, which has `count` items.
    case invalidPosition(Int, count: Int)
    case invalidVolume(Int)
    /// A factor for the music during an announcement that is not in 0...1.
    case invalidDuck(Double)
    /// A time at or after the end of an item, in seconds.
    case pastEnd(item: String, time: Double, duration: Double)
    /// A live stream has no positions.
    case notSeekable(item: String)
    /// Seconds that are not finite, are before the start, or exceed any item.
    case invalidTime(Double)
    case unknownDriver(name: String, allowed: [String])
    /// The journal cannot be written, so a restart would lose the change. `isInEffect`: the change was made nevertheless.
    case notStored(reason: String, isInEffect: Bool)
}

extension PlayerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .emptyQueue: "the queue is empty"
        case .stopped: "nothing is playing"
        case .noSuchItem(let id): "no item \(id) in the queue"
        case .tooManyAnnouncements(let limit): "\(limit) announcements are waiting already, which is the limit"
        case .suspended: "audio is suspended while no client is attached"
        case .outputDisabled: "the sound output is disabled"
        case .queueFull(let limit): "the queue is limited to \(limit) items"
        case .invalidPosition(let position, let count):
            "position \(position) is outside the queue of \(count) \(count == 1 ? "item" : "items")"
        case .invalidVolume(let volume): "\(volume) is not a valid volume; use 0 to 100"
        case .invalidDuck(let duck): "\(duck) is not a valid duck level; use 0 (silent) to 1 (full volume)"
        case .pastEnd(let item, let time, let duration):
            "cannot seek to \(Durations.clock(time)): \(item) is \(Durations.clock(duration)) long"
        case .notSeekable(let item): "cannot seek in \(item): it is a live stream"
        case .invalidTime(let seconds): "\(seconds) is not a valid time in an item"
        case .unknownDriver(let name, let allowed):
            "no audio driver \"\(name)\" on this machine; use \(allowed.joined(separator: ", "))"
        case .notStored(let reason, isInEffect: false):
            "nothing was changed, because the change cannot be saved: \(reason)"
        case .notStored(let reason, isInEffect: true): "the change is in effect, but cannot be saved yet: \(reason)"
        }
    }
}
