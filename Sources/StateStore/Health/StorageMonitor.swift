import BackgrounderAPI
import FoundationEssentials
import GRDB
import Glibc
import Synchronization

/// Tracks whether the database can be read and written, and which damage was found.
///
/// Every read and write of the store reports its outcome here. All methods may be called from any thread.
final class StorageMonitor: Sendable {
    /// A kind of access that fails or succeeds.
    enum Operation: Hashable, Sendable {
        case write, sync, read, position
    }

    private struct State {
        /// The current failures.
        var failing: [Operation: StorageProblem] = [:]
        /// Damaged or missing data that was not acknowledged yet.
        var incidents: [StorageProblem] = []
    }

    /// Bytes that must be free before a full disk counts as recovered. Tuned: room for a few hundred points.
    private static let leastRoom: UInt64 = 65_536

    private let path: String
    private let state: Mutex<State>
    private let onChange: @Sendable ([StorageProblem]) -> Void
    /// The problems in the last report; the lock keeps reports in order.
    private let reported: Mutex<[StorageProblem]>

    /// - Parameters:
    ///   - path: the path of the database.
    ///   - incidents: incidents of earlier runs that were not acknowledged.
    ///   - onChange: called with all current problems when one begins or ends, one call at a time and on no particular
    ///     thread; must return immediately.
    init(path: String, incidents: [StorageProblem], onChange: @escaping @Sendable ([StorageProblem]) -> Void) {
        self.path = path
        self.onChange = onChange
        state = Mutex(State(incidents: incidents))
        reported = Mutex(incidents)
    }

    /// The incidents and the current failures, oldest first; of the failures, each kind once.
    var problems: [StorageProblem] { state.withLock { Self.problems($0) } }
    var incidents: [StorageProblem] { state.withLock { $0.incidents } }
    /// Whether the last `operation` failed.
    func isFailing(_ operation: Operation) -> Bool { state.withLock { $0.failing[operation] != nil } }

    /// Records that `operation` failed with `error`.
    ///
    /// - Parameter file: the file that it concerns, if that is not the database.
    /// - Returns: whether this changed ``problems``.
    @discardableResult
    func failed(_ operation: Operation, _ error: any Error, file: String? = nil) -> Bool {
        let failure = StorageFailure(error) ?? StorageFailure(.unwritable, "\(error)")
        let problem = failure.problem(path: file ?? path, operation: operation)
        return change { state in
            if problem.kind.isPresent {
                if state.failing[operation]?.kind != problem.kind { state.failing[operation] = problem }
            } else if !state.incidents.contains(where: { $0.kind == problem.kind && $0.message == problem.message }) {
                // Tuned: more entries add nothing for a disk that decays page by page.
                if state.incidents.count < 20 { state.incidents.append(problem) }
            }
        }
    }

    func succeeded(_ operation: Operation) {
        // The fast path: nothing is failing. It runs many times a second.
        guard let failure = state.withLock({ $0.failing[operation] }) else { return }
        // On a full disk a small write can still succeed where a larger one failed.
        guard failure.kind != .diskFull || hasRoom else { return }
        change { $0.failing[operation] = nil }
    }

    /// Whether the file system of the database has room for more than the smallest writes; true if that is unknown.
    private var hasRoom: Bool {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return true }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize) >= Self.leastRoom
    }

    func acknowledge() {
        change { $0.incidents = [] }
    }

    @discardableResult
    private func change(_ body: (inout State) -> Void) -> Bool {
        state.withLock { body(&$0) }
        return reported.withLock { reported in
            let problems = problems
            guard problems != reported else { return false }
            reported = problems
            onChange(problems)
            return true
        }
    }

    private static func problems(_ state: State) -> [StorageProblem] {
        var seen: Set<StorageProblem.Kind> = []
        let failing = state.failing.values.sorted { $0.since < $1.since }.filter { seen.insert($0.kind).inserted }
        return (state.incidents + failing).sorted { $0.since < $1.since }
    }
}
