import BackgrounderAPI

/// The reason why the player rejects a command, or cannot play a file.
package enum PlayerError: Error, Hashable, Sendable {
    case emptyQueue
    /// Seeking and skipping need an item that is playing or paused.
    case stopped
    case noSuchItem(id: Int)
    case noSuchPath(path: String)
    /// The caller may only name files in `folder`, or none at all if it is nil.
    case outside(path: String, folder: String?)
    /// Neither a regular file nor a folder but a `kind`.
    case notPlayableKind(path: String, kind: String)
    /// An announcement must be a regular file; this is a `kind`.
    case notAFile(path: String, kind: String)
    /// The limit of waiting announcements is reached.
    case tooManyAnnouncements(limit: Int)
    /// The audio mode is suspended.
    case suspended
    /// A folder without playable files.
    case noMedia(folder: String)
    /// A playlist without playable files; `fault` is its first fault.
    case emptyPlaylist(path: String, fault: String?)
    /// More files than one command can add.
    case tooMany(path: String, most: Int)
    /// The queue would exceed its limit of items.
    case queueFull(limit: Int)
    case unreadable(path: String, reason: String)
    /// A position outside of the queue, which has `count` items.
    case invalidPosition(Int, count: Int)
    case invalidVolume(Int)
    /// A factor for the music during an announcement that is not in 0...1.
    case invalidDuck(Double)
    /// A time at or after the end of an item, in seconds.
    case pastEnd(item: String, time: Double, duration: Double)
    /// A file whose content is not audio; `reason` is what the decoders report.
    case notAudio(path: String, reason: String)
    /// Seconds that are not finite, are before the start, or exceed any item.
    case invalidTime(Double)
    case unknownDriver(name: String, allowed: [String])
    /// The journal cannot be written, so a restart would lose the change. `isInEffect`: the change was made nevertheless.
    case notStored(reason: String, isInEffect: Bool)
}

extension PlayerError {
    /// The fault of the file, without its path.
    var reason: String {
        switch self {
        case .noSuchPath: "no such file"
        case .notPlayableKind(_, let kind): "a \(kind), not a file"
        case .unreadable(_, let reason), .notAudio(_, let reason): reason
        default: description
        }
    }
}

extension PlayerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .emptyQueue: "the queue is empty"
        case .stopped: "nothing is playing"
        case .noSuchItem(let id): "no item \(id) in the queue"
        case .noSuchPath(let path): "\(path): no such file or folder"
        case .outside(let path, let folder?): "\(path) is not in the music folder \(folder)"
        case .outside(let path, nil): "\(path) may not be opened for this user, because audio.musicDirectory is not set"
        case .notPlayableKind(let path, let kind): "\(path): a \(kind) cannot be played"
        case .notAFile(let path, let kind): "\(path): a \(kind) cannot be an announcement"
        case .tooManyAnnouncements(let limit): "\(limit) announcements are waiting already, which is the limit"
        case .suspended: "audio is suspended while no client is attached"
        case .noMedia(let folder): "\(folder): nothing in this folder can be played"
        case .emptyPlaylist(let path, let fault):
            "\(path): nothing in this playlist can be played" + (fault.map { ", \($0)" } ?? "")
        case .tooMany(let path, let most): "\(path): more than \(most) files in one command"
        case .queueFull(let limit): "the queue is limited to \(limit) items"
        case .unreadable(let path, let reason), .notAudio(let path, let reason): "\(path): \(reason)"
        case .invalidPosition(let position, let count):
            "position \(position) is outside the queue of \(count) \(count == 1 ? "item" : "items")"
        case .invalidVolume(let volume): "\(volume) is not a valid volume; use 0 to 100"
        case .invalidDuck(let duck): "\(duck) is not a valid duck level; use 0 (silent) to 1 (full volume)"
        case .pastEnd(let item, let time, let duration):
            "cannot seek to \(Durations.clock(time)): \(item) is \(Durations.clock(duration)) long"
        case .invalidTime(let seconds): "\(seconds) is not a valid time in an item"
        case .unknownDriver(let name, let allowed):
            "no audio driver \"\(name)\" on this machine; use \(allowed.joined(separator: ", "))"
        case .notStored(let reason, isInEffect: false):
            "nothing was changed, because the change cannot be saved: \(reason)"
        case .notStored(let reason, isInEffect: true): "the change is in effect, but cannot be saved yet: \(reason)"
        }
    }
}
