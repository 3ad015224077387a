package import BackgrounderAPI
import HTTPTypes
import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore
package import NIOSSL

/// Knows the sessions of the page.
package protocol PageAuthority: Sendable {
    /// Returns the session of a token; `nil` if there is none.
    func session(withToken token: String) async -> PageSession?
}

/// An address at which the page is served.
package struct PageAddress: Sendable, CustomStringConvertible {
    let host: String
    let port: Int
    let hosts: Set<String>
    let tls: TLSConfiguration?

    /// Creates an address.
    ///
    /// - Parameters:
    ///   - host: an address of this machine.
    ///   - port: 0 for a free one.
    ///   - hosts: the names by which browsers may call the address.
    ///   - tls: the certificate and key; without them, the address must be on loopback.
    package init(host: String, port: Int, hosts: [String], tls: TLSConfiguration? = nil) {
        (self.host, self.port, self.tls) = (host, port, tls)
        self.hosts = Set(hosts.map { $0.lowercased() })
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The server of the page: its files for everybody, and the routes of the control socket for the sessions of ``PageAuthority``, up to the
/// right `control`.
///
/// Any thread.
package struct PageServer: Sendable {
    /// The number of event readers of a session: one, and those that the service does not know to be closed.
    private static let mostReaders = 4

    private let responder: ControlResponder
    private let authority: any PageAuthority
    private let tilesOrigin: String?
    private let listener: HTTPListener

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - tilesOrigin: the origin of online tiles.
    ///   - requestLimit: the time after which a connection without a whole request is closed.
    ///   - slots: the limits for connections.
    package init(
        responder: ControlResponder,
        authority: any PageAuthority,
        tilesOrigin: String?,
        group: any EventLoopGroup,
        logger: Logger,
        requestLimit: Duration = .seconds(10),
        slots: ConnectionLimits = .ofPage()
    ) {
        self.responder = responder
        self.authority = authority
        self.tilesOrigin = tilesOrigin
        listener = HTTPListener(
            group: group,
            logger: logger,
            requestLimit: requestLimit,
            slots: ConnectionSlots(limits: slots)
        )
    }

    /// Serves the page until graceful shutdown or cancellation.
    ///
    /// - Parameter onRunning: receives the port, once it accepts connections.
    /// - Throws: an error if the address cannot be used.
    package func run(at address: PageAddress, onRunning: @escaping @Sendable (Int) async -> Void) async throws {
        let guardian = PageGuard(hosts: address.hosts, isEncrypted: address.tls != nil, tilesOrigin: tilesOrigin)
        try await listener.run(at: .hostname(address.host, port: address.port), tls: address.tls) { context in
            (context.remoteAddress?.ipAddress).map {
                ConnectionOpener(owner: .host($0), level: nil, isPrivileged: false)
            }
        } respond: { request, channel in
            var response: Response
            do throws(WireError) {
                try guardian.check(request)
                guard let reply = try await respond(to: request, on: channel) else { return nil }
                response = reply
            } catch {
                response = Response(refusing: error)
                if error.code == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
            }
            guardian.secure(&response)
            return response
        } onRunning: { channel in
            await onRunning(channel.localAddress?.port ?? address.port)
        }
    }

    /// Closes the connections that the sessions `ids` use.
    package func close(usedBy ids: Set<Int>) {
        listener.slots.close(usedBy: ids)
    }

    private func respond(to request: Request, on channel: any Channel) async throws(WireError) -> Response? {
        let isReading = request.method == .get || request.method == .head
        if isReading, let file = PageFile.all[request.uri.path] { return try file.response(to: request) }
        let isExchange = request.method == .post && request.uri.path == Routes.beginPageSession.path
        guard isExchange else {
            let session = try await session(of: request)
            // The connection may have lost its slot. The session is looked up again because, if it ended meanwhile, the connection
            // was not yet known as one to be closed.
            guard listener.slots.use(channel, by: session.id), try await self.session(of: request) == session else {
                return nil
            }
            return await respond(to: request, from: .session(session.id), level: session.scope, on: channel)
        }
        return await respond(to: request, from: .stranger, level: .read, on: channel)
    }

    private func respond(
        to request: Request,
        from identity: Caller.Identity,
        level: AccessLevel,
        on channel: any Channel
    ) async -> Response {
        let caller = Caller(identity: identity, level: level, mostReaders: Self.mostReaders)
        return await responder.respond(to: request, from: caller, on: channel, logger: listener.logger)
    }

    private func session(of request: Request) async throws(WireError) -> PageSession {
        let scheme = "bearer "
        guard let field = request.headers[.authorization], field.lowercased().hasPrefix(scheme) else {
            throw WireError(.unauthorized, "the request has no token", hint: Self.hint)
        }
        guard let session = await authority.session(withToken: String(field.dropFirst(scheme.count))) else {
            throw WireError(.unauthorized, "the session has ended or never existed", hint: Self.hint)
        }
        return session
    }

    private static let hint = "run `backgrounder open` and use the new link"
}
