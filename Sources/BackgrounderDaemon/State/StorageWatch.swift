import BackgrounderAPI
import Logging
import StateStore
import Synchronization

/// Watches the storage's problems: logs each that begins or ends, and notifies the service. Any thread.
final class StorageWatch: Sendable {
    private struct State {
        var problems: [StorageProblem] = []
        var onChange: (@Sendable (_ isWorking: Bool) -> Void)?
    }

    private let logger: Logger
    private let state = Mutex(State())

    init(logger: Logger) { self.logger = logger }

    /// Calls `onChange` on any thread after each further change.
    ///
    /// - Parameter onChange: receives whether the database can be written.
    func connect(_ onChange: @escaping @Sendable (_ isWorking: Bool) -> Void) {
        state.withLock { $0.onChange = onChange }
    }

    func changed(to problems: [StorageProblem]) {
        let (before, onChange) = state.withLock { state in
            defer { state.problems = problems }
            return (state.problems, state.onChange)
        }
        for problem in problems where !before.contains(problem) {
            logger.error("Storage: \(problem.message); \(problem.hint)")
        }
        let isWorking = !problems.contains { $0.kind.isPresent }
        if isWorking, before.contains(where: { $0.kind.isPresent }) {
            logger.notice("Storage: the database can be written again")
        }
        onChange?(isWorking)
    }
}
