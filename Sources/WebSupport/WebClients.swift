package import AsyncHTTPClient
package import NIOCore
import NIOSSL

/// The HTTP clients: one for servers on the Internet, one for local servers, and one for servers with any address.
///
/// The first two keep only connections to addresses of their own scope, so a pooled connection never carries a request for
/// one scope to a server in the other.
package struct WebClients: Sendable {
    private let global: HTTPClient
    private let local: HTTPClient
    private let unlimited: HTTPClient

    /// Creates the clients on `group`. Call ``shutdown()`` when they are no longer needed.
    package init(on group: any EventLoopGroup) {
        global = .forSources(on: group, scope: .global)
        local = .forSources(on: group, scope: .local)
        // A connection of HTTP/2 stays in use after a request on it has failed, even if its network is gone.
        unlimited = .forSources(on: group, version: .http1Only)
    }

    /// Shuts the clients down and closes their connections.
    package func shutdown() async throws {
        try await global.shutdown()
        try await local.shutdown()
        try await unlimited.shutdown()
    }

    /// Sends `request` to a server that the user named, which may have any address.
    package func execute(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        try await unlimited.execute(request, deadline: .distantFuture)
    }

    /// Sends `request` and returns the response with the scope of the server's address.
    ///
    /// - Parameters:
    ///   - url: the URL of `request`.
    ///   - mayBeLocal: whether the server may have a local address.
    /// - Throws: ``LocalAddressError`` if the server has a local address and `mayBeLocal` is false, or an error of the
    ///   client.
    package func execute(
        _ request: HTTPClientRequest,
        _ url: WebURL,
        mayBeLocal: Bool
    ) async throws -> (response: HTTPClientResponse, scope: AddressScope) {
        if let address = url.origin.address, AddressScope(address) == .local {
            guard mayBeLocal else { throw LocalAddressError(address) }
            return (try await local.execute(request, deadline: .distantFuture), .local)
        }
        do {
            return (try await global.execute(request, deadline: .distantFuture), .global)
        } catch let error as LocalAddressError {
            guard mayBeLocal else { throw error }
            return (try await local.execute(request, deadline: .distantFuture), .local)
        }
    }
}

extension HTTPClient {
    /// Creates a client that does not follow redirects and does not retry a failed connection attempt.
    ///
    /// - Parameter scope: the only scope of addresses that the client may connect to; `nil` allows all.
    package static func forSources(
        on group: any EventLoopGroup,
        scope: AddressScope? = nil,
        version: Configuration.HTTPVersion = .automatic
    ) -> HTTPClient {
        var configuration = Configuration(redirectConfiguration: .disallow)
        configuration.httpVersion = version
        configuration.tlsConfiguration = .client()
        configuration.connectionPool.retryConnectionEstablishment = false
        if let scope {
            // Runs before the first request on a connection.
            let check = { @Sendable (channel: any Channel) -> EventLoopFuture<Void> in
                guard let address = channel.remoteAddress, AddressScope(address) != scope else {
                    return channel.eventLoop.makeSucceededVoidFuture()
                }
                channel.close(promise: nil)
                return channel.eventLoop.makeFailedFuture(LocalAddressError(address))
            }
            configuration.http1_1ConnectionDebugInitializer = { channel in
                check(channel).flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(ICYStatusLine(), position: .first)
                }
            }
            configuration.http2ConnectionDebugInitializer = check
        }
        let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
        // Leaked on purpose: a service that fails to start exits without shutting the client down, and the library
        // traps when such a client is freed.
        _ = Unmanaged.passRetained(client)
        return client
    }
}

extension WebURL.Origin {
    /// The host as an IP address; `nil` if it is a name.
    fileprivate var address: SocketAddress? {
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        return try? SocketAddress(ipAddress: bare, port: port)
    }
}
