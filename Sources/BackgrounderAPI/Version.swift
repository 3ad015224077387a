/// What this is, in one place.
package enum Backgrounder {
    /// The program that people call.
    package static let commandName = "backgrounder"
    /// Semantic version of the service, the command and the API together.
    package static let version = "0.1.0"
    /// The `Backgrounder-Version` header of every response.
    package static let versionHeader = "Backgrounder-Version"
}
