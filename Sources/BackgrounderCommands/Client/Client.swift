import AsyncHTTPClient
import BackgrounderAPI
import FoundationEssentials
import Glibc
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import SystemSupport

/// An HTTP client of the service's control socket.
///
///     try await Client.use(paths) { client in
///         print(try await client.call(Routes.status).state)
///     }
struct Client: Sendable {
    private let http: HTTPClient
    private let socket: String

    /// Runs `body` with a client, then shuts the client down.
    static func use<Result>(_ paths: RuntimePaths, _ body: (Client) async throws -> Result) async throws -> Result {
        var configuration = HTTPClient.Configuration()
        // A refused connection means that the service is not running. Fail instead of retrying.
        configuration.connectionPool.retryConnectionEstablishment = false
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let client = Client(http: http, socket: paths.controlSocket)
        do {
            let result = try await body(client)
            try await client.http.shutdown()
            return result
        } catch {
            // Report the first error, not one of the shutdown.
            try? await client.http.shutdown()
            throw error
        }
    }

    /// Sends a request and returns the decoded reply.
    ///
    /// - Parameters:
    ///   - id: The value for `{id}` in the route's path.
    ///   - name: The value for `{name}` in the route's path.
    ///   - query: Names and values of the query.
    ///   - patience: The time limit for the whole request.
    /// - Throws: ``CommandFailure``.
    func call<Body, Reply>(
        _ route: Route<Body, Reply>,
        body: Body? = nil,
        id: Int? = nil,
        name: String? = nil,
        query: [(String, String)] = [],
        patience: TimeAmount = .seconds(30)
    ) async throws -> Reply {
        var path = route.path
        if let id { path = path.replacing("{id}", with: String(id)) }
        if let name { path = try self.path(path, name: name) }
        let data = try body.map { try JSON.encode($0) } ?? (route.method == .post ? Data("{}".utf8) : nil)
        let response = try await send(route.method, path, query: query, body: data, deadline: .now() + patience)
        let bytes = try await collect(response)
        guard response.status.code == UInt(route.status) else { throw Self.failure(response.status, bytes) }
        do {
            return try JSON.decode(Reply.self, from: bytes.isEmpty ? Data("{}".utf8) : bytes)
        } catch {
            throw CommandFailure(
                "cannot parse the reply; check that backgrounder and backgrounderd have the same version"
            )
        }
    }

    /// Returns the body of the reply to `GET path` as a stream, without a time limit.
    func stream(_ path: String, query: [(String, String)] = []) async throws -> HTTPClientResponse.Body {
        let response = try await send(.get, path, query: query, body: nil, deadline: .distantFuture)
        guard response.status == .ok else { throw Self.failure(response.status, try await collect(response)) }
        return response.body
    }

    /// Returns the body of the reply to `route` as a stream, without a time limit.
    func stream<Body, Reply>(_ route: Route<Body, Reply>, body: Body) async throws -> HTTPClientResponse.Body {
        let data = try JSON.encode(body)
        let response = try await send(route.method, route.path, query: [], body: data, deadline: .distantFuture)
        guard response.status.code == UInt(route.status) else {
            throw Self.failure(response.status, try await collect(response))
        }
        return response.body
    }

    /// Returns `path` with `{name}` replaced by the percent-encoded `name`.
    ///
    /// - Throws: ``CommandFailure`` if the name is empty, because the path would match another route.
    func path(_ path: String, name: String) throws -> String {
        guard !name.isEmpty else {
            throw CommandFailure("the name is empty; pass a name", exitCode: 4)
        }
        return path.replacing("{name}", with: name.percentEncoded)
    }

    private func send(
        _ method: RouteMethod,
        _ path: String,
        query: [(String, String)],
        body: Data?,
        deadline: NIODeadline
    ) async throws -> HTTPClientResponse {
        let query = query.map { "\($0)=\($1.percentEncoded)" }.joined(separator: "&")
        var request = HTTPClientRequest(
            url: "http+unix://\(socket.percentEncoded)\(path)\(query.isEmpty ? "" : "?" + query)"
        )
        request.method = HTTPMethod(rawValue: method.rawValue)
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(data: body))
        }
        do {
            return try await http.execute(request, deadline: deadline)
        } catch let error as HTTPClientError where error == .deadlineExceeded || error == .connectTimeout {
            throw CommandFailure("the service does not reply; see `backgrounder log`")
        } catch {
            throw unreachable(error)
        }
    }

    private func collect(_ response: HTTPClientResponse) async throws -> Data {
        do {
            return Data(buffer: try await response.body.collect(upTo: 1 << 28))
        } catch {
            throw CommandFailure.lostConnection("\(error)")
        }
    }

    private func unreachable(_ error: any Error) -> CommandFailure {
        switch (error as? IOError)?.errnoCode {
        case ENOENT, ENOTDIR, ECONNREFUSED: .notRunning
        case EACCES, EPERM:
            CommandFailure("cannot use \(socket): permission denied; ask its owner for access, or run as root")
        case ECONNRESET, EPIPE: .lostConnection()
        case let code?: CommandFailure("cannot connect to the service: \(systemMessage(code))")
        case nil where error is ChannelError || error as? HTTPClientError == .remoteConnectionClosed: .lostConnection()
        case nil: .lostConnection("\(error)")
        }
    }

    private static func failure(_ status: HTTPResponseStatus, _ bytes: Data) -> CommandFailure {
        guard let error = try? JSON.decode(WireError.self, from: bytes) else {
            return CommandFailure(
                "unexpected reply, status \(status.code); check that backgrounder and backgrounderd have the same version"
            )
        }
        return CommandFailure(error)
    }
}
