import BackgrounderAPI

/// Why the player refuses a command, or cannot play a file.
package enum PlayerError: Error, Hashable, Sendable {
    case emptyQueue
    /// Seeking and skipping need an item that is playing or paused.
    case stopped
    case noSuchItem(id: Int)
    case noSuchPath(path: String)
    /// The caller may name files of `folder` alone; of none where that is `nil`.
    case outside(path: String, folder: String?)
    /// Neither a regular file nor a folder; `kind` names what it is.
    case notPlayableKind(path: String, kind: String)
    /// An announcement is one regular file.
    case notAFile(path: String, kind: String)
    /// So many announcements wait already.
    case tooManyAnnouncements(limit: Int)
    /// The mode may not make a sound now.
    case suspended
    /// A folder in which there is nothing to play.
    case noMedia(folder: String)
    /// A playlist in which there is nothing to play; `fault` is the first of what is wrong.
    case emptyPlaylist(path: String, fault: String?)
    /// More files than one command may add.
    case tooMany(path: String, most: Int)
    /// The queue would have more items than it takes.
    case queueFull(limit: Int)
    case unreadable(path: String, reason: String)
    /// A place in the queue; `count` is the number of items there are.
    case invalidPosition(Int, count: Int)
    case invalidVolume(Int)
    /// What the music is multiplied with beneath an announcement.
    case invalidDuck(Double)
    /// A time at or after the end of an item; `time` and `duration` are seconds.
    case pastEnd(item: String, time: Double, duration: Double)
    /// The content of a file is not audio; `reason` says what the decoders made of it.
    case notAudio(path: String, reason: String)
    /// Seconds that are not finite, lie before the start, or are more than any item has.
    case invalidTime(Double)
    case unknownDriver(name: String, allowed: [String])
    /// The journal takes nothing, so that a change would be gone after a restart. `isInEffect` says that it was made all the same.
    case notStored(reason: String, isInEffect: Bool)
}

extension PlayerError {
    /// What is wrong with a file, without its path.
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
        case .emptyQueue: "The queue is empty"
        case .stopped: "Nothing is playing"
        case .noSuchItem(let id): "There is no item \(id) in the queue"
        case .noSuchPath(let path): "\(path): no such file or folder"
        case .outside(let path, let folder?): "\(path) is not in the music folder \(folder)"
        case .outside(let path, nil): "\(path) may not be opened for this user, since audio.musicDirectory is not set"
        case .notPlayableKind(let path, let kind): "\(path): a \(kind) cannot be played, only files and folders of them"
        case .notAFile(let path, let kind): "\(path): a \(kind) cannot be an announcement, only a file"
        case .tooManyAnnouncements(let limit): "\(limit) announcements are waiting already"
        case .suspended: "Audio is suspended while nobody is attached"
        case .noMedia(let folder): "\(folder): nothing in this folder can be played"
        case .emptyPlaylist(let path, let fault):
            "\(path): nothing in this playlist can be played" + (fault.map { ", \($0)" } ?? "")
        case .tooMany(let path, let most): "\(path): more than \(most) files at once; name less"
        case .queueFull(let limit): "The queue takes no more than \(limit) items"
        case .unreadable(let path, let reason), .notAudio(let path, let reason): "\(path): \(reason)"
        case .invalidPosition(let position, let count): "Position \(position) is not in the queue of \(count)"
        case .invalidVolume(let volume): "A volume is 0 to 100, not \(volume)"
        case .invalidDuck(let duck): "The music goes on at 0 to 1 of its loudness, not \(duck)"
        case .pastEnd(let item, let time, let duration):
            "Cannot seek to \(Durations.clock(time)): \(item) is \(Durations.clock(duration)) long"
        case .invalidTime(let seconds): "\(seconds) is no time in an item"
        case .unknownDriver(let name, let allowed):
            "\"\(name)\" is no audio driver here; allowed are \(allowed.joined(separator: ", "))"
        case .notStored(let reason, isInEffect: false):
            "nothing was changed, since the change cannot be stored: \(reason)"
        case .notStored(let reason, isInEffect: true): "the change is in effect, but cannot be stored yet: \(reason)"
        }
    }
}
