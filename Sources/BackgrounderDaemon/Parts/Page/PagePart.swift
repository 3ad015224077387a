import BackgrounderAPI
import ControlServer
import FoundationEssentials
import Glibc
import Logging
import MapArchive
import NIOCore
import SystemSupport

/// The page as a part of the service: its sessions and routes. ``PageService`` has its servers.
struct PagePart: DaemonPart {
    /// The range of a session's duration in seconds.
    static let durations = 1.0...(30 * 86_400)
    private static let standardDuration = 8 * 3600.0

    let context: PartContext
    let sessions: PageSessions
    private let loopback = LoopbackPage()
    /// The map of `web.map`.
    private let map: MapArchive?

    init(_ context: PartContext) throws {
        self.context = context
        sessions = try PageSessions(store: context.store, clock: context.clock, logger: context.logger)
        map = context.initialConfiguration.value(Keys.webMap).map { path in
            MapArchive(path: path) { [logger = context.logger] fault in
                logger.warning("Showing no map from a file: \(fault)")
            }
        }
    }

    /// Creates the servers. Call it once.
    ///
    /// - Throws: ``StartError`` if the certificate or its key cannot be read.
    func makeService(_ responder: ControlResponder) async throws(StartError) -> PageService {
        let configuration = context.initialConfiguration
        let server = PageServer(
            responder: responder,
            authority: sessions,
            tilesOrigin: configuration.value(Keys.webTiles)?.origin,
            group: context.group,
            logger: context.logger
        )
        await loopback.connect(server)
        return PageService(
            sessions: sessions,
            server: server,
            loopback: loopback,
            network: try configuration.pageAddresses(),
            clock: context.clock,
            logger: context.logger
        )
    }

    func addRoutes(to router: inout ControlRouter) {
        addMapRoute(to: &router)
        router.on(Routes.createPageCode) { request in try await createCode(request) }
        router.on(Routes.beginPageSession) { request in try await sessions.exchange(request.body.code) }
        router.on(Routes.pageSessions) { _ in await sessions.all }
        router.on(Routes.revokePageSession) { request in
            try await sessions.revoke(request.id)
            return Empty()
        }
        router.on(Routes.page) { request in
            guard let id = request.session, let session = await sessions.all.first(where: { $0.id == id }) else {
                throw WireError(.conflict, "only a page has a session", hint: "run `backgrounder open`")
            }
            return PageDescription(
                scope: session.scope,
                expires: session.expires,
                version: Backgrounder.version,
                map: await map?.description,
                tiles: context.initialConfiguration.value(Keys.webTiles)?.template
            )
        }
    }

    private func addMapRoute(to router: inout ControlRouter) {
        router.onContent(Routes.mapTilePath) { request in
            let (zoom, column) = (try request.number("z"), try request.number("x"))
            let image = await map?.image(zoom: zoom, column: column, row: try request.number("y"))
            return image.map { Content(image: $0) }
        }
    }

    private func createCode(_ request: RouteRequest<PageCodeRequest>) async throws -> PageCode {
        let body = request.body
        let scope = body.scope ?? min(request.access, .control)
        guard scope <= .control else {
            throw WireError(.invalid, "scope cannot be \(scope.rawValue)", hint: "use read or control")
        }
        guard scope <= request.access else {
            throw WireError(.forbidden, "you may only read", hint: "use the scope read")
        }
        let duration = body.duration ?? Self.standardDuration
        guard Self.durations.contains(duration) else {
            throw WireError(.invalid, "duration \(duration) is out of range", hint: "use 1 s to 30 days")
        }
        if let port = body.port, !(1...65_535).contains(port) {
            throw WireError(.invalid, "port \(port) is out of range", hint: "use 1 to 65535")
        }
        let (code, expires) = try await sessions.addCode(scope: scope, duration: .seconds(duration))
        do {
            let port = try await open(port: body.port)
            return PageCode(code: code, expires: expires, port: port, links: links(code: code, port: port))
        } catch {
            await sessions.removeCode(code)
            throw error
        }
    }

    /// Makes sure that the server on loopback runs, and returns its port.
    ///
    /// - Throws: ``WireError`` with `conflict` if it runs on another port or the port cannot be used, or the error of the store.
    private func open(port requested: Int?) async throws -> Int {
        let stored = await sessions.port
        let port: Int
        do {
            port = try await loopback.start(port: requested ?? stored ?? 0)
        } catch let error as IOError where requested == nil && error.errnoCode == EADDRINUSE {
            // Another program took the port since.
            port = try await loopback.start(port: 0)
        } catch let error as IOError {
            throw WireError(
                .conflict,
                "cannot listen on 127.0.0.1:\(requested ?? 0): \(systemMessage(error.errnoCode))",
                hint: "use another port"
            )
        }
        guard requested == nil || requested == port else {
            throw WireError(
                .conflict,
                "the page is already on port \(port), and has sessions",
                hint: "use this port, or end the sessions with `backgrounder open --revoke ID`"
            )
        }
        try await sessions.setPort(port)
        return port
    }

    /// Returns the links that open the page with `code`: first those for the network, last the one on loopback.
    private func links(code: String, port: Int) -> [String] {
        let configuration = context.initialConfiguration
        let ports = configuration.value(Keys.webListen).map(\.port)
        let hosts = configuration.value(Keys.webHosts)
        let remote = hosts.flatMap { host in ports.map { "https://\(host)\($0 == 443 ? "" : ":\($0)")/#\(code)" } }
        return remote + ["http://127.0.0.1:\(port)/#\(code)"]
    }
}
