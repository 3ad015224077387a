package import BackgrounderAPI
package import WebSupport

/// Why an attempt at a transfer ended before the transfer did.
enum TransferFault: Error, Hashable, CustomStringConvertible {
    /// Another attempt would fail too.
    case permanent(String)
    /// Another attempt may succeed, after the time `after` at the earliest.
    case passing(String, after: Duration?)
    /// The network is down or the host cannot be reached.
    case offline(String)
    /// The disk is full, or would be.
    case disk(String)

    var description: String {
        switch self {
        case .permanent(let reason), .passing(let reason, _), .offline(let reason), .disk(let reason): reason
        }
    }

    /// A passing fault without a minimum delay.
    static func passing(_ reason: String) -> TransferFault { .passing(reason, after: nil) }
}

/// Why a command on transfers fails.
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
        case .plain(let host): "unencrypted http to \(host) is not allowed"
        case .name(let error): "cannot derive a file name from the URL: \(error)"
        case .outsideRoots(let path, let roots):
            "\(path) is outside the transfer folders (\(roots.joined(separator: ", ")))"
        case .relative(let path): "\(path.debugDescription) is not an absolute path"
        case .notAFolder(let path, let reason): "cannot use \(path): \(reason)"
        case .exists(let path): "\(path) already exists"
        case .noSuchFile(let path): "cannot open \(path): no such file"
        case .notAFile(let path): "\(path) is not a readable regular file"
        case .digest(let text): "\(text.debugDescription) is not a valid SHA-256"
        case .session(let name): "\(name.debugDescription) is not a valid session name"
        case .sizeLimit: "the size limit is out of range"
        case .tooMany(let most): "cannot add the transfer: \(most) are open, the maximum"
        case .noSuchTransfer(let id): "no transfer \(id)"
        case .noSuchSession(let name): "no session \(name.debugDescription)"
        case .isOver(let id, let state): "transfer \(id) has already ended: \(state.rawValue)"
        case .credentials(let error): "\(error)"
        case .cannotStore(let reason): "cannot save the transfer: \(reason)"
        }
    }
}
