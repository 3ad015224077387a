import BackgrounderAPI
import FoundationEssentials
import Glibc
import SystemSupport

/// An HTTP client of the service's control socket. Each request has a connection of its own.
///
///     print(try await Client(paths).call(Routes.status).state)
struct Client: Sendable {
    private let paths: RuntimePaths

    init(_ paths: RuntimePaths) {
        self.paths = paths
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
        patience: Duration = .seconds(30)
    ) async throws -> Reply {
        var path = route.path
        if let id { path = path.replacing("{id}", with: String(id)) }
        if let name { path = try self.path(path, name: name) }
        let data = try body.map { try JSON.encode($0) } ?? (route.method == .post ? Data("{}".utf8) : nil)
        let reply = try await send(route.method, path, query: query, body: data, patience: patience)
        let bytes = try await reply.body.collect()
        guard reply.status == route.status else { throw Self.failure(reply.status, bytes) }
        do {
            return try JSON.decode(Reply.self, from: bytes.isEmpty ? Data("{}".utf8) : bytes)
        } catch {
            throw CommandFailure(
                "cannot parse the reply; check that backgrounder and backgrounderd have the same version"
            )
        }
    }

    /// Returns what `find` finds, or else what `add` adds. Another client may add it meanwhile.
    func findOrAdd<Value>(_ find: () async throws -> Value?, _ add: () async throws -> Value) async throws -> Value {
        if let value = try await find() { return value }
        do {
            return try await add()
        } catch {
            guard let value = try? await find() else { throw error }
            return value
        }
    }

    /// Returns the body of the reply to `GET path` as a stream.
    ///
    /// - Parameter patience: The time limit for the whole stream; `nil` for none.
    func stream(
        _ path: String,
        query: [(String, String)] = [],
        patience: Duration? = nil
    ) async throws -> ReplyBody {
        let reply = try await send(.get, path, query: query, body: nil, patience: patience)
        guard reply.status == 200 else { throw Self.failure(reply.status, try await reply.body.collect()) }
        return reply.body
    }

    /// Returns the body of the reply to `route` as a stream, without a time limit.
    func stream<Body, Reply>(_ route: Route<Body, Reply>, body: Body) async throws -> ReplyBody {
        let reply = try await send(route.method, route.path, query: [], body: try JSON.encode(body), patience: nil)
        guard reply.status == route.status else { throw Self.failure(reply.status, try await reply.body.collect()) }
        return reply.body
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
        patience: Duration?
    ) async throws -> (status: Int, body: ReplyBody) {
        let query = query.map { "\($0)=\($1.percentEncoded)" }.joined(separator: "&")
        var head = "\(method.rawValue) \(path)\(query.isEmpty ? "" : "?" + query) HTTP/1.1\r\nHost: localhost\r\n"
        if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
        do throws(ControlConnection.Failure) {
            let connection = try ControlConnection(patience: patience)
            let status = try await connection.send(
                Array("\(head)\r\n".utf8) + (body ?? Data()),
                to: paths.controlSocket
            )
            return (status, ReplyBody(connection: connection, paths: paths))
        } catch {
            throw CommandFailure(error, paths)
        }
    }

    private static func failure(_ status: Int, _ bytes: Data) -> CommandFailure {
        guard let error = try? JSON.decode(WireError.self, from: bytes) else {
            return CommandFailure(
                "unexpected reply, status \(status); check that backgrounder and backgrounderd have the same version"
            )
        }
        return CommandFailure(error)
    }
}

/// The body of a reply, in pieces as they arrive. Further ones wait in the socket.
struct ReplyBody: AsyncSequence, AsyncIteratorProtocol {
    fileprivate let connection: ControlConnection
    fileprivate let paths: RuntimePaths

    func makeAsyncIterator() -> Self { self }

    /// - Throws: ``CommandFailure`` if the connection breaks off.
    func next() async throws -> ArraySlice<UInt8>? {
        try await withTaskCancellationHandler {
            do throws(ControlConnection.Failure) {
                return try await connection.next()
            } catch {
                throw CommandFailure(error, paths)
            }
        } onCancel: {
            connection.end()
        }
    }

    /// Returns all that follows, up to 256 MiB.
    func collect() async throws -> Data {
        var bytes = Data()
        while let piece = try await next() {
            bytes += piece
            guard bytes.count <= 1 << 28 else { throw CommandFailure.lostConnection("the reply is too large") }
        }
        return bytes
    }
}

extension CommandFailure {
    fileprivate init(_ failure: ControlConnection.Failure, _ paths: RuntimePaths) {
        self =
            switch failure {
            case .lost: .lostConnection()
            case .late: .late
            // No service can listen at a path that is too long; `start` says so.
            case .notConnected(ENOENT), .notConnected(ENOTDIR), .notConnected(ECONNREFUSED),
                .notConnected(ENAMETOOLONG):
                paths.isDenied(.system) ? .notRunning(system: RuntimePaths.system.run) : .notRunning
            case .notConnected(EACCES), .notConnected(EPERM):
                CommandFailure(
                    "cannot use \(paths.controlSocket): permission denied; ask its owner for access, or run as root"
                )
            case .notConnected(let code): CommandFailure("cannot connect to the service: \(systemMessage(code))")
            }
    }
}
