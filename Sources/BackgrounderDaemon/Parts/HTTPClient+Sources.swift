import AsyncHTTPClient
import BackgroundFetch
import NIOCore
import NIOSSL

extension HTTPClient {
    /// For what the service fetches and transfers: every redirect is looked at by who asked, and a server that refuses is an
    /// answer and nothing to wait for.
    static func forSources(on group: any EventLoopGroup) -> HTTPClient {
        var configuration = Configuration(redirectConfiguration: .disallow)
        configuration.tlsConfiguration = .client()
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
        // Never freed: a service that cannot start ends without an orderly shutdown of it, which the library takes for a fault.
        _ = Unmanaged.passRetained(client)
        return client
    }
}
