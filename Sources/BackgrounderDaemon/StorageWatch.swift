import AudioPlayback
import BackgrounderAPI
import ControlServer
import LocationUpdates
import Logging
import StateStore
import Synchronization

/// Follows the storage's problems: each that begins or ends is logged, and the service is told. Any thread.
final class StorageWatch: Sendable {
    private struct State {
        var problems: [StorageProblem] = []
        var onChange: (@Sendable (_ isWorking: Bool) -> Void)?
    }

    private let logger: Logger
    private let state = Mutex(State())

    init(logger: Logger) { self.logger = logger }

    /// From now on `onChange` is called on no particular thread after each change; `isWorking` says whether the disk takes writes.
    func connect(_ onChange: @escaping @Sendable (_ isWorking: Bool) -> Void) {
        state.withLock { $0.onChange = onChange }
    }

    func changed(to problems: [StorageProblem]) {
        let (before, onChange) = state.withLock { state in
            defer { state.problems = problems }
            return (state.problems, state.onChange)
        }
        for problem in problems where !before.contains(problem) {
            logger.error("Storage: \(problem.message); \(problem.hint).")
        }
        let isWorking = !problems.contains { $0.kind.isPresent }
        if isWorking, before.contains(where: { $0.kind.isPresent }) {
            logger.notice("Storage: the database can be written again.")
        }
        onChange?(isWorking)
    }
}

extension Daemon {
    /// Whether what must be kept reaches the disk.
    func health() async -> StorageHealth { await location.health(store.problems) }

    /// The location status with what is wrong with the storage.
    func locationStatus() async -> LocationStatus {
        var status = await location.status()
        status.health = await unhealthy()
        return status
    }

    /// `status` with what is wrong with the storage.
    func reporting(_ status: AudioStatus) async -> AudioStatus {
        var status = status
        status.health = await unhealthy()
        return status
    }

    /// `nil` while nothing is wrong.
    private func unhealthy() async -> StorageHealth? {
        if store.problems.isEmpty { return nil }
        return await health()
    }

    /// Tells everybody who watches of the storage's problems, and stores what waited for it.
    func follow(_ storage: StorageWatch) {
        storage.connect { isWorking in
            Task {
                hub.post(.health(await health()))
                hub.stateChanged()
                if isWorking {
                    await location.storeWaiting()
                    await player.storeUnsaved()
                }
            }
        }
    }
}
