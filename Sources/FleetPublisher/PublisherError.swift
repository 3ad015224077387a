package import WebSupport

/// Why ``FleetPublisher`` refuses a command.
package enum PublisherError: Error, Hashable, Sendable, CustomStringConvertible {
    case noSuchPublisher(String)
    case exists(String)
    /// The configuration file declares the publisher.
    case declared(String, file: String)
    case tooMany(limit: Int)
    /// The request is invalid; the value says why.
    case invalid(String)
    case credentials(CredentialsError)

    package var description: String {
        switch self {
        case .noSuchPublisher(let name): "no publisher \(name)"
        case .exists(let name): "the publisher \(name) already exists"
        case .declared(let name, let file): "the publisher \(name) is declared in \(file)"
        case .tooMany(let limit): "cannot add the publisher: \(limit) exist, the maximum"
        case .invalid(let reason): reason
        case .credentials(let error): error.description
        }
    }
}
