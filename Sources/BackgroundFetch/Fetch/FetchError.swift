/// Why a command on sources is refused.
package enum FetchError: Error, Hashable, Sendable, CustomStringConvertible {
    case noSuchSource(String)
    case exists(String)
    case invalid(String)
    case credentials(CredentialsError)
    case tooMany(Int)
    /// It is switched off, and `what` is said to be no fetch of the user's own.
    case off(String, why: String)
    /// The service stops.
    case ended
    /// It could not be stored.
    case notSaved(String)

    package var description: String {
        switch self {
        case .noSuchSource(let name): "there is no source \(name.debugDescription)"
        case .exists(let name): "there is a source \(name.debugDescription) already"
        case .invalid(let problem): problem
        case .credentials(let error): error.description
        case .tooMany(let limit): "there are \(limit) sources already, the most that are taken"
        case .off(let name, let why): "\(name) is off: \(why)"
        case .ended: "the service stops"
        case .notSaved(let reason): "it could not be stored: \(reason)"
        }
    }
}
