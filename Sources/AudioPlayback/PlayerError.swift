/// Why the player refuses a command, or cannot play a file.
package enum PlayerError: Error, Hashable, Sendable {
    case emptyQueue
    /// Seeking and skipping need an item that is playing or paused.
    case stopped
    case noSuchItem(id: Int)
    case noSuchPath(path: String)
    /// Neither a regular file nor a folder; `kind` names what it is.
    case notPlayableKind(path: String, kind: String)
    /// A folder in which there is nothing to play.
    case noMedia(folder: String)
    case unreadable(path: String, reason: String)
    /// A place in the queue; `count` is the number of items there are.
    case invalidPosition(Int, count: Int)
    case invalidVolume(Int)
    /// Seconds that are not finite, lie before the start, or are more than any item has.
    case invalidTime(Double)
    case unknownDriver(name: String, allowed: [String])
}

extension PlayerError {
    /// What is wrong with a file, without its path.
    var reason: String {
        switch self {
        case .noSuchPath: "no such file"
        case .notPlayableKind(_, let kind): "a \(kind), not a file"
        case .unreadable(_, let reason): reason
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
        case .notPlayableKind(let path, let kind): "\(path): a \(kind) cannot be played, only files and folders of them"
        case .noMedia(let folder): "\(folder): nothing in this folder can be played"
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .invalidPosition(let position, let count): "Position \(position) is not in the queue of \(count)"
        case .invalidVolume(let volume): "A volume is 0 to 100, not \(volume)"
        case .invalidTime(let seconds): "\(seconds) is no time in an item"
        case .unknownDriver(let name, let allowed):
            "\"\(name)\" is no audio driver here; allowed are \(allowed.joined(separator: ", "))"
        }
    }
}
