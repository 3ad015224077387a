package import BackgrounderAPI
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import SystemSupport
import WebSupport

/// Binds routes to their handlers.
package struct ControlRouter {
    private let router = Router(context: ControlContext.self)
    private var methods: [String: Set<HTTPRequest.Method>] = [:]

    private let requireMode: @Sendable (BackgroundMode) throws(WireError) -> Void

    /// Creates a router without routes.
    ///
    /// - Parameter requireMode: checks that a mode may work now.
    package init(requireMode: @escaping @Sendable (BackgroundMode) throws(WireError) -> Void = { _ in }) {
        self.requireMode = requireMode
    }

    /// Adds a handler for `route`, which accepts the parameters `query` and works only while `mode` may work. The handler may
    /// throw a ``WireError`` or a ``WireErrorConvertible``.
    package mutating func on<Body, Reply>(
        _ route: Route<Body, Reply>,
        requires mode: BackgroundMode? = nil,
        query: Set<String> = [],
        _ handler: @escaping @Sendable (RouteRequest<Body>) async throws -> Reply
    ) {
        let status = HTTPResponse.Status(code: route.status)
        on(route.method, route.path, access: route.access, isLocal: route.isLocal, query: query) {
            [requireMode] request, context in
            let body = Body.keys.isEmpty && route.method != .post ? nil : try await RawBodyReader.read(request)
            let routeRequest = try RouteRequest<Body>(request: request, context: context, body: body)
            if let mode { try requireMode(mode) }
            let reply = try await handler(routeRequest)
            if status == .noContent { return Response(status: status) }
            return try Response(status: status, json: reply, packed: request.acceptsGzip)
        }
    }

    mutating func on(
        _ method: RouteMethod,
        _ path: String,
        access: AccessLevel,
        isLocal: Bool = false,
        query: Set<String>,
        _ handler: @escaping @Sendable (Request, ControlContext) async throws -> Response
    ) {
        let method = HTTPRequest.Method(method)
        methods[path, default: []].insert(method)
        router.on(RouterPath(path), method: method) { request, context in
            do {
                try context.caller.require(access, isLocal: isLocal)
                for (name, _) in request.uri.queryParameters where !query.contains(String(name)) {
                    let takes = query.isEmpty ? "none" : query.sorted().joined(separator: ", ")
                    throw WireError(
                        .invalid,
                        "unknown parameter \(name.debugDescription)",
                        hint: "this route takes \(takes)"
                    )
                }
                return try await handler(request, context)
            } catch {
                return Response(refusing: error, logger: context.logger)
            }
        }
    }

    /// Returns the routes as the servers use them, with errors for unknown paths and methods.
    package consuming func makeResponder() -> ControlResponder {
        // Middleware that is added last sees only requests without a route.
        router.add(middleware: UnknownRoute(methods: methods))
        return ControlResponder(responder: router.buildResponder())
    }
}

/// All routes, for the control server and the page's server.
package struct ControlResponder: Sendable {
    private let responder: any HTTPResponder<ControlContext>

    fileprivate init(responder: any HTTPResponder<ControlContext>) {
        self.responder = responder
    }

    /// Answers a request, errors included.
    func respond(to request: Request, from caller: Caller, on channel: any Channel, logger: Logger) async -> Response {
        let context = ControlContext(source: .init(logger: logger, channel: channel, caller: caller))
        do {
            return try await responder.respond(to: request, context: context)
        } catch {
            return Response(refusing: error, logger: logger)
        }
    }
}

/// Distinguishes unknown paths from unsupported methods.
private struct UnknownRoute: RouterMiddleware {
    let methods: [String: Set<HTTPRequest.Method>]

    func handle(
        _ request: Request,
        context: ControlContext,
        next: @concurrent (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        let parts = request.uri.path.split(separator: "/")
        let fitting = methods.filter { path, _ in
            let own = path.split(separator: "/")
            return own.count == parts.count && zip(own, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
        }
        // As in the router, a literal path takes precedence over one with a parameter.
        let known = fitting.first { !$0.key.contains("{") } ?? fitting.first
        guard let (path, methods) = known else {
            return Response(
                refusing: WireError(.notFound, "no such path", hint: "openapi.yaml lists the paths")
            )
        }
        let all: [HTTPRequest.Method] = [.get, .post, .put, .patch, .delete]
        let allow = all.filter(methods.contains).map(\.rawValue).joined(separator: ", ")
        var response = Response(
            refusing: WireError(
                .methodNotAllowed,
                "\(path) does not support \(request.method.rawValue)",
                hint: "use \(allow)"
            )
        )
        response.headers[.allow] = allow
        return response
    }
}

/// A request to a route: the checked body, and the parameters of path and query.
package struct RouteRequest<Body: RouteBody>: Sendable {
    package let body: Body
    private let parameters: Parameters
    private let query: Parameters
    /// The right of the caller.
    package let access: AccessLevel
    /// Whether the request came over TCP.
    package let isRemote: Bool
    /// The session of the page that sent the request.
    package let session: Int?

    init(request: Request, context: ControlContext, body: RawBody?) throws {
        access = context.caller.level ?? .read
        isRemote = context.caller.isRemote
        session = if case .session(let id) = context.caller.identity { id } else { nil }
        self.body = try (body ?? RawBody()).decode(Body.self)
        parameters = context.parameters
        query = request.uri.queryParameters
    }

    /// The `{id}` of the path.
    package var id: Int {
        get throws(WireError) {
            guard let text = parameters.get("id"), let id = Int(text) else {
                let text = parameters.get("id") ?? ""
                throw WireError(.notFound, "\(text.debugDescription) is not a valid id", hint: "use a whole number")
            }
            return id
        }
    }

    /// Returns a whole number of the path.
    package func number(_ name: String) throws(WireError) -> Int {
        guard let text = parameters.get(name), let number = Int(text), number >= 0 else {
            let text = parameters.get(name) ?? ""
            throw WireError(.notFound, "\(text.debugDescription) is not a valid number", hint: "use a whole number")
        }
        return number
    }

    /// The `{name}` of the path, decoded.
    package var name: String {
        let name = parameters.get("name") ?? ""
        return name.percentDecoded ?? name
    }

    /// Returns the query parameter `name`; `nil` if it is absent.
    package func query(_ name: String) -> String? {
        query[Substring(name)].map(String.init)
    }
}

/// An error that can cross the socket.
package protocol WireErrorConvertible: Error {
    /// The error as it crosses the socket.
    var wireError: WireError { get }
}

extension HTTPRequest.Method {
    fileprivate init(_ method: RouteMethod) {
        switch method {
        case .get: self = .get
        case .post: self = .post
        case .put: self = .put
        case .patch: self = .patch
        case .delete: self = .delete
        }
    }
}

extension Request {
    /// Whether the reader understands compressed replies.
    var acceptsGzip: Bool {
        headers[values: .acceptEncoding].contains { value in
            value.split(separator: ",").contains { $0.trimmed.lowercased() == "gzip" }
        }
    }
}

extension Response {
    /// Tuned: less fits into one packet, and more would occupy an event loop for too long.
    private static var packedSizes: ClosedRange<Int> { 1400...(1 << 20) }

    /// Creates a response.
    ///
    /// - Parameter packed: whether the reader accepts gzip.
    init(status: HTTPResponse.Status, json value: some Encodable, packed: Bool = false) throws {
        let bytes = try JSON.encode(value)
        var headers: HTTPFields = [.contentType: "application/json"]
        if packed, Self.packedSizes.contains(bytes.count), let packed = Gzip.compress(bytes) {
            headers[.contentEncoding] = "gzip"
            self.init(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: packed)))
        } else {
            self.init(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
        }
    }

    /// Creates the response for any error. One that is not meant for clients is a defect of the service, and `logger` receives it.
    init(refusing error: any Error, logger: Logger) {
        switch error {
        case let error as WireError: self.init(refusing: error)
        case let error as any WireErrorConvertible: self.init(refusing: error.wireError)
        default:
            // The end of the connection cancels the handler.
            if !(error is CancellationError) { logger.error("Cannot answer a request: \(error)") }
            self.init(refusing: WireError(.unavailable, "internal error: \(error)", hint: "see the log"))
        }
    }

    init(refusing error: WireError) {
        self =
            (try? Response(status: .init(code: error.code.httpStatus), json: error))
            ?? Response(status: .internalServerError)
    }
}

extension String {
    /// The text with `%XX` decoded; `nil` if the result is not UTF-8 or a percent sign is not followed by two digits.
    fileprivate var percentDecoded: String? {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.first != "+", let value = UInt8(digits, radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
