package import BackgrounderAPI

/// Why an attempt at a transfer ended before the transfer did.
enum TransferFault: Error, Hashable, CustomStringConvertible {
    /// No other attempt would end better.
    case permanent(String)
    /// Another attempt may do, `after` this time at the earliest.
    case passing(String, after: Duration?)
    /// There is no way to anywhere.
    case offline(String)
    /// The disk is full, or would be.
    case disk(String)

    var description: String {
        switch self {
        case .permanent(let reason), .passing(let reason, _), .offline(let reason), .disk(let reason): reason
        }
    }

    static func passing(_ reason: String) -> TransferFault { .passing(reason, after: nil) }
}

/// Why a command on transfers is refused.
package enum TransferError: Error, Hashable, CustomStringConvertible {
    case url(WebURLError)
    case plain(host: String)
    case name(FileNameError)
    case outsideRoots(String, roots: [String])
    case notAFolder(String, reason: String)
    case relative(String)
    case exists(String)
    case noSuchFile(String)
    case notAFile(String)
    case digest(String)
    case session(String)
    case sizeLimit
    case tooMany(Int)
    case noSuchTransfer(Int)
    case noSuchSession(String)
    case isOver(Int, TransferState)
    case cannotStore(String)
    case credentials(CredentialsError)

    package var description: String {
        switch self {
        case .url(let error): "\(error)"
        case .plain(let host): "http without encryption to \(host) is not allowed"
        case .name(let error): "the URL has no name for a file: \(error)"
        case .outsideRoots(let path, let roots):
            "\(path) is outside of the folders for transfers, \(roots.joined(separator: ", "))"
        case .relative(let path): "\(path.debugDescription) is no absolute path"
        case .notAFolder(let path, let reason): "\(path) cannot be used: \(reason)"
        case .exists(let path): "\(path) exists"
        case .noSuchFile(let path): "there is no file \(path)"
        case .notAFile(let path): "\(path) is no file that can be read"
        case .digest(let text): "\(text.debugDescription) is no SHA-256"
        case .session(let name): "\(name.debugDescription) is no name of a session"
        case .sizeLimit: "the size limit is no number of bytes from 1 on"
        case .tooMany(let most): "\(most) transfers are open, and no more are taken"
        case .noSuchTransfer(let id): "there is no transfer \(id)"
        case .noSuchSession(let name): "there is no session \(name.debugDescription)"
        case .isOver(let id, let state): "transfer \(id) is \(state.rawValue)"
        case .credentials(let error): "\(error)"
        case .cannotStore(let reason): "the transfer cannot be stored: \(reason)"
        }
    }
}
