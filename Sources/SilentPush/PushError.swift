package import WebSupport

/// Why ``PushReceiver`` refuses a command.
package enum PushError: Error, Hashable, Sendable, CustomStringConvertible {
    case noSuchPush(String)
    case exists(String)
    /// The configuration file declares the push.
    case declared(String, file: String)
    case tooMany(limit: Int)
    /// The request is invalid; the value says why.
    case invalid(String)
    case credentials(CredentialsError)
    /// No client is attached, and the mode is not declared.
    case suspended
    /// The operating system provides no further thread or descriptor.
    case system(reason: String)

    package var description: String {
        switch self {
        case .noSuchPush(let name): "no push \(name)"
        case .exists(let name): "the push \(name) already exists"
        case .declared(let name, let file): "the push \(name) is declared in \(file)"
        case .tooMany(let limit): "cannot add the push: \(limit) exist, the maximum"
        case .invalid(let reason): reason
        case .credentials(let error): error.description
        case .suspended: "remote-notification is not in modes; attach or declare it"
        case .system(let reason): "cannot open another connection: \(reason)"
        }
    }
}
