/// What the receiver of pushes refuses.
package enum PushError: Error, Hashable, Sendable, CustomStringConvertible {
    case noSuchPush(String)
    case exists(String)
    case tooMany(limit: Int)
    /// In words for people.
    case invalid(String)
    case credentials(CredentialsError)
    /// Nobody is attached, and the mode is not declared.
    case suspended
    /// The operating system has no thread or descriptor for it.
    case system(reason: String)

    package var description: String {
        switch self {
        case .noSuchPush(let name): "there is no push \(name)"
        case .exists(let name): "there is a push \(name) already"
        case .tooMany(let limit): "there are \(limit) pushes already, which is the most"
        case .invalid(let reason): reason
        case .credentials(let error): error.description
        case .suspended: "remote-notification is not in modes; attach or declare it"
        case .system(let reason): "the system has no room for another connection: \(reason)"
        }
    }
}
