package import WebSupport

/// The reason why a command on a source fails.
package enum FetchError: Error, Hashable, Sendable, CustomStringConvertible {
    case noSuchSource(String)
    case exists(String)
    /// The configuration file declares the source.
    case declared(String, file: String)
    /// The request is invalid; the string is the whole message.
    case invalid(String)
    case credentials(CredentialsError)
    /// The limit of sources is reached.
    case tooMany(Int)
    /// Automatic fetches of the source are off, and the run was not requested by a user.
    case off(String, why: String)
    /// The service is stopping.
    case ended
    /// The change could not be stored, for the reason given.
    case notSaved(String)

    package var description: String {
        switch self {
        case .noSuchSource(let name): "no source \(name.debugDescription)"
        case .exists(let name): "the source \(name.debugDescription) already exists"
        case .declared(let name, let file): "the source \(name.debugDescription) is declared in \(file)"
        case .invalid(let problem): problem
        case .credentials(let error): error.description
        case .tooMany(let limit): "cannot add the source: \(limit) exist, the maximum"
        case .off(let name, let why): "\(name) is off: \(why)"
        case .ended: "the service is stopping"
        case .notSaved(let reason): "cannot save the change: \(reason)"
        }
    }
}
