package import WebSupport

/// How publishers reach web servers.
package struct WebAccess: Sendable {
    let clients: WebClients
    let policy: @Sendable () async -> RedirectPolicy

    /// Creates the access.
    ///
    /// - Parameter policy: the servers that may be contacted, asked before each point.
    package init(clients: WebClients, policy: @escaping @Sendable () async -> RedirectPolicy) {
        (self.clients, self.policy) = (clients, policy)
    }
}
