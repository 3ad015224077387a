/// Name and version of the product.
package enum Backgrounder {
    /// The name of the command.
    package static let commandName = "backgrounder"
    /// The semantic version of the service, the command and the API.
    package static let version = "0.1.0"
    /// The `Backgrounder-Version` header of every response.
    package static let versionHeader = "Backgrounder-Version"
}
