/// Why a path cannot be played.
package enum MediaError: Error, Hashable, Sendable {
    case noSuchPath(path: String)
    /// The caller may only name files in `folder`, or none at all if it is nil.
    case outside(path: String, folder: String?)
    /// An address on the network, from a caller who may only name files in a folder.
    case foreignAddress(String)
    /// An address that is not valid; `reason` names it.
    case invalidAddress(reason: String)
    /// Neither a regular file nor a folder but a `kind`.
    case notPlayableKind(path: String, kind: String)
    /// An announcement must be a regular file; this is a `kind`.
    case notAFile(path: String, kind: String)
    /// A folder without playable files.
    case noMedia(folder: String)
    /// A playlist without playable files; `fault` is its first fault.
    case emptyPlaylist(path: String, fault: String?)
    /// More files than one command can add.
    case tooMany(path: String, most: Int)
    case unreadable(path: String, reason: String)
    /// A file whose content is not audio; `reason` is what the decoders report.
    case notAudio(path: String, reason: String)

    /// The fault of the file, without its path.
    package var reason: String {
        switch self {
        case .noSuchPath: "no such file"
        case .notPlayableKind(_, let kind): "a \(kind), not a file"
        case .unreadable(_, let reason), .notAudio(_, let reason): reason
        default: description
        }
    }
}

extension MediaError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noSuchPath(let path): "\(path): no such file or folder"
        case .outside(let path, let folder?): "\(path) is not in the music folder \(folder)"
        case .outside(let path, nil): "\(path) may not be opened for this user, because audio.musicDirectory is not set"
        case .foreignAddress(let address): "\(address) is on the network, and this user may only queue files"
        case .invalidAddress(let reason): reason
        case .notPlayableKind(let path, let kind): "\(path): a \(kind) cannot be played"
        case .notAFile(let path, let kind): "\(path): a \(kind) cannot be an announcement"
        case .noMedia(let folder): "\(folder): nothing in this folder can be played"
        case .emptyPlaylist(let path, let fault):
            "\(path): nothing in this playlist can be played" + (fault.map { ", \($0)" } ?? "")
        case .tooMany(let path, let most): "\(path): more than \(most) files in one command"
        case .unreadable(let path, let reason), .notAudio(let path, let reason): "\(path): \(reason)"
        }
    }
}
