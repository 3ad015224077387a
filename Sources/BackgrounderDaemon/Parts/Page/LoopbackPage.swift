import BackgrounderAPI
import ControlServer
import NIOCore

/// The page's server on loopback, which runs only while a session or a code needs it.
actor LoopbackPage {
    private enum State {
        case stopped
        case starting(Task<Int, any Error>, server: Task<Void, any Error>)
        case running(port: Int, server: Task<Void, any Error>)
    }

    /// The names by which a browser on this machine, or at the other end of a tunnel, may call the address.
    private static let hosts = ["127.0.0.1", "localhost", "[::1]"]

    private var server: PageServer?
    private var state = State.stopped

    /// Receives the server. Call it once, before any other method.
    func connect(_ server: PageServer) {
        self.server = server
    }

    var isStopped: Bool {
        if case .stopped = state { true } else { false }
    }

    /// Starts the server unless it runs, and returns its port.
    ///
    /// - Parameter port: the port for a server that does not run; 0 for a free one.
    /// - Throws: an error if the port cannot be used.
    func start(port: Int) async throws -> Int {
        switch state {
        case .running(let port, _): return port
        case .starting(let start, _): return try await start.value
        case .stopped: break
        }
        guard let server else { preconditionFailure("the server is not connected") }
        let (ports, continuation) = AsyncThrowingStream.makeStream(of: Int.self)
        let run = Task {
            do {
                let address = PageAddress(host: "127.0.0.1", port: port, hosts: Self.hosts)
                try await server.run(at: address) { continuation.yield($0) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
                throw error
            }
        }
        let start = Task {
            for try await port in ports { return port }
            throw CancellationError()
        }
        state = .starting(start, server: run)
        do {
            let port = try await start.value
            if case .starting = state { state = .running(port: port, server: run) }
            return port
        } catch {
            state = .stopped
            throw error
        }
    }

    /// Stops the server and closes its connections.
    func stop() async {
        switch state {
        case .stopped: return
        case .starting(_, let server), .running(_, let server):
            state = .stopped
            server.cancel()
            _ = await server.result
        }
    }
}
