import AsyncHTTPClient
import BackgrounderAPI
import FoundationEssentials
import Glibc
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// The service, as seen over its control socket.
///
///     try await Client.use(paths) { client in
///         print(try await client.call(Routes.status).state)
///     }
struct Client: Sendable {
    private let http: HTTPClient
    private let socket: String

    /// Runs `body` with a client that is shut down after it.
    static func use<Result>(_ paths: RuntimePaths, _ body: (Client) async throws -> Result) async throws -> Result {
        var configuration = HTTPClient.Configuration()
        // A socket that nobody serves is an answer, not something to wait for.
        configuration.connectionPool.retryConnectionEstablishment = false
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let client = Client(http: http, socket: paths.controlSocket)
        do {
            let result = try await body(client)
            try await client.http.shutdown()
            return result
        } catch {
            // The first error is the one to tell.
            try? await client.http.shutdown()
            throw error
        }
    }

    /// - Parameters:
    ///   - id: the value of the route's `{id}`.
    ///   - name: that of its `{name}`.
    ///   - query: names and values.
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
            throw CommandFailure("the service's answer cannot be read; are command and service of one version?")
        }
    }

    /// The body of `GET path` as it comes, without an end in time.
    func stream(_ path: String, query: [(String, String)] = []) async throws -> HTTPClientResponse.Body {
        let response = try await send(.get, path, query: query, body: nil, deadline: .distantFuture)
        guard response.status == .ok else { throw Self.failure(response.status, try await collect(response)) }
        return response.body
    }

    /// The body of the answer to `route` as it comes, without an end in time.
    func stream<Body, Reply>(_ route: Route<Body, Reply>, body: Body) async throws -> HTTPClientResponse.Body {
        let data = try JSON.encode(body)
        let response = try await send(route.method, route.path, query: [], body: data, deadline: .distantFuture)
        guard response.status.code == UInt(route.status) else {
            throw Self.failure(response.status, try await collect(response))
        }
        return response.body
    }

    /// `path` with `name` in the place of its `{name}`.
    ///
    /// - Throws: ``CommandFailure`` where the name is empty: the path would be another route's.
    func path(_ path: String, name: String) throws -> String {
        guard !name.isEmpty else {
            throw CommandFailure("there is nothing with the name \"\"; give its name", exitCode: 4)
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
            throw CommandFailure("the service does not answer; `backgrounder log` may say why")
        } catch {
            throw unreachable(error)
        }
    }

    private func collect(_ response: HTTPClientResponse) async throws -> Data {
        do {
            return Data(buffer: try await response.body.collect(upTo: 1 << 28))
        } catch {
            throw CommandFailure("the connection to the service broke: \(error)")
        }
    }

    private func unreachable(_ error: any Error) -> CommandFailure {
        guard access(socket, F_OK) == 0 || errno != EACCES else {
            return CommandFailure("\(socket) may not be used by this user; ask its owner, or run as root")
        }
        if access(socket, F_OK) == 0, access(socket, W_OK) != 0 {
            return CommandFailure("\(socket) may not be used by this user; ask its owner, or run as root")
        }
        return .notRunning
    }

    private static func failure(_ status: HTTPResponseStatus, _ bytes: Data) -> CommandFailure {
        guard let error = try? JSON.decode(WireError.self, from: bytes) else {
            return CommandFailure("the service answered \(status.code); are command and service of one version?")
        }
        return CommandFailure(error)
    }
}

extension String {
    /// All but RFC 3986's unreserved characters as `%XX`.
    fileprivate var percentEncoded: String {
        utf8.reduce(into: "") { result, byte in
            let scalar = Unicode.Scalar(byte)
            if scalar.isASCII,
                scalar.properties.isAlphabetic || (0x30...0x39).contains(byte) || "-._~".unicodeScalars.contains(scalar)
            {
                result.unicodeScalars.append(scalar)
            } else {
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
