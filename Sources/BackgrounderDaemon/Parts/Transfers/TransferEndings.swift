import BackgrounderAPI
import Synchronization

/// The callers that wait for the ends of transfers. Any thread.
final class TransferEndings: Sendable {
    private let waiting = Mutex<[Int: [AsyncStream<Transfer>.Continuation]]>([:])

    /// Returns a stream with one element: the transfer once it has ended. It must not have ended yet.
    func ending(of id: Int) -> AsyncStream<Transfer> {
        let ending = AsyncStream.makeStream(of: Transfer.self)
        waiting.withLock { $0[id, default: []].append(ending.continuation) }
        return ending.stream
    }

    /// Notes the state of a transfer.
    func note(_ transfer: Transfer) {
        guard transfer.state.isOver else { return }
        for continuation in waiting.withLock({ $0.removeValue(forKey: transfer.id) }) ?? [] {
            continuation.yield(transfer)
            continuation.finish()
        }
    }
}
