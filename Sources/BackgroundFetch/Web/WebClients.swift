package import AsyncHTTPClient
package import NIOCore
import NIOSSL

/// The HTTP clients of what is fetched: one for the Internet and one for local servers.
///
/// Each keeps only connections whose peer has its scope, so a connection that is used again never leads a request of the one kind to
/// a server of the other.
package struct WebClients: Sendable {
    private let global: HTTPClient
    private let local: HTTPClient

    package init(on group: any EventLoopGroup) {
        global = .forSources(on: group, scope: .global)
        local = .forSources(on: group, scope: .local)
    }

    package func shutdown() async throws {
        try await global.shutdown()
        try await local.shutdown()
    }

    /// Sends `request`, and returns the response with the scope of the server's address.
    ///
    /// - Parameter url: of `request`.
    /// - Throws: ``LocalAddressError`` where the server has a local address and `mayBeLocal` is false, and errors of the client.
    func execute(
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
    /// A client that follows no redirect, and for which a server that refuses is an answer and nothing to wait for.
    ///
    /// - Parameter scope: of the addresses that it may speak to; all where there is none.
    package static func forSources(on group: any EventLoopGroup, scope: AddressScope? = nil) -> HTTPClient {
        var configuration = Configuration(redirectConfiguration: .disallow)
        configuration.tlsConfiguration = .client()
        configuration.connectionPool.retryConnectionEstablishment = false
        if let scope {
            // Before the first request of a connection.
            let check = { @Sendable (channel: any Channel) -> EventLoopFuture<Void> in
                guard let address = channel.remoteAddress, AddressScope(address) != scope else {
                    return channel.eventLoop.makeSucceededVoidFuture()
                }
                channel.close(promise: nil)
                return channel.eventLoop.makeFailedFuture(LocalAddressError(address))
            }
            configuration.http1_1ConnectionDebugInitializer = check
            configuration.http2ConnectionDebugInitializer = check
        }
        let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
        // Never freed: a service that cannot start ends without an orderly shutdown of it, which the library takes for a fault.
        _ = Unmanaged.passRetained(client)
        return client
    }
}

extension WebURL.Origin {
    /// The address that the host is written as; `nil` for a name.
    fileprivate var address: SocketAddress? {
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        return try? SocketAddress(ipAddress: bare, port: port)
    }
}
