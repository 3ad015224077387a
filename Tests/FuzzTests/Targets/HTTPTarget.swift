import BackgrounderAPI
import ControlServer
import Dispatch
import Glibc
import Logging
import NIOPosix
import ServiceLifecycle

/// The control server with every route that takes a body or a parameter. Each input is a connection of its own.
final class HTTPTarget: Sendable {
    static let shared = HTTPTarget()

    /// The statuses of errors; no request can succeed.
    private static let statuses: Set = ["400", "403", "404", "405", "413", "415", "422", "431", "501", "503"]

    private let path: String

    private init() {
        var folder = Array("/tmp/fuzz-XXXXXX".utf8CString)
        precondition(mkdtemp(&folder) != nil)
        path = String(decoding: folder.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/c.sock"
        let isRunning = DispatchSemaphore(value: 0)
        let logger = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }
        let server = ControlServer(
            socket: path,
            responder: Self.router().makeResponder(),
            group: MultiThreadedEventLoopGroup.singleton,
            logger: logger,
            access: AccessPolicy(owner: getuid())
        ) { isRunning.signal() }
        let group = ServiceGroup(services: [server], logger: logger)
        Task { try await group.run() }
        isRunning.wait()
    }

    private static func router() -> ControlRouter {
        var router = ControlRouter()
        func add<Body, Reply>(_ route: Route<Body, Reply>, query: Set<String> = []) {
            router.on(route, query: query) { request in
                _ = try? request.id
                _ = request.name
                for name in query { _ = request.query(name) }
                throw WireError(.unavailable, "this server does nothing", hint: "send something else")
            }
        }
        add(Routes.status)
        add(Routes.stop)
        add(Routes.changeLocation)
        add(Routes.trips, query: ["since", "until", "limit"])
        add(Routes.importTrack)
        add(Routes.changeAudio)
        add(Routes.play)
        add(Routes.seek)
        add(Routes.interrupt)
        add(Routes.enqueue)
        add(Routes.moveItem)
        add(Routes.removeItems)
        add(Routes.removeItem)
        add(Routes.beginTask)
        add(Routes.beginSample)
        add(Routes.addTaskHook)
        add(Routes.removeTaskHook)
        add(Routes.addFetchSource)
        add(Routes.changeFetchSource)
        add(Routes.runFetch)
        add(Routes.changeRefresh)
        add(Routes.addTransfer)
        add(Routes.acknowledgeEvents)
        add(Routes.addPush)
        add(Routes.simulatePush)
        return router
    }

    func run(_ bytes: [UInt8]) {
        let client = connect()
        defer { close(client) }
        // The server may close before it has read everything.
        _ = send(client, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        shutdown(client, CInt(SHUT_WR))
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while case let count = recv(client, &buffer, buffer.count, 0), count > 0 { answer += buffer[..<count] }
        guard !answer.isEmpty else { return }
        let line = String(decoding: answer.prefix { $0 != 0x0D }, as: UTF8.self)
        let words = line.split(separator: " ")
        precondition(words.count >= 2 && line.hasPrefix("HTTP/1.") && Self.statuses.contains(String(words[1])), line)
    }

    private func connect() -> CInt {
        let client = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(client, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(client >= 0 && result == 0, "\(errno)")
        return client
    }
}
