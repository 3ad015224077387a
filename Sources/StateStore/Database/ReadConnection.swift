import GRDB
import Synchronization

/// A second connection that only reads, opened at its first use. A search through a large table runs here, so that it
/// does not block points and commands on the writing connection.
final class ReadConnection: Sendable {
    private enum State {
        case unopened
        case open(DatabaseQueue)
        case closed
    }

    private let path: String
    private let state = Mutex(State.unopened)

    init(path: String) { self.path = path }

    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await queue().read(body)
    }

    /// Returns what `body` reads, and blocks the calling thread while the disk works. Do not call it on the cooperative
    /// thread pool.
    func sync<Value>(_ body: (Database) throws -> Value) throws -> Value { try queue().read(body) }

    func close() throws {
        let before = state.withLock { state in
            defer { state = .closed }
            return state
        }
        if case .open(let queue) = before { try queue.close() }
    }

    private func queue() throws -> DatabaseQueue {
        try state.withLock { state in
            switch state {
            case .open(let queue): return queue
            case .closed: throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the store is closed")
            case .unopened:
                var configuration = Configuration()
                configuration.readonly = true
                configuration.busyMode = .timeout(2)
                let queue = try DatabaseQueue(path: path, configuration: configuration)
                state = .open(queue)
                return queue
            }
        }
    }
}
