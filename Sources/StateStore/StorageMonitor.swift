package import BackgrounderAPI
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
    /// - Returns: whether this changed ``problems``.
    @discardableResult
    func failed(_ operation: Operation, _ error: any Error) -> Bool {
        let failure = StorageFailure(error) ?? StorageFailure(.unwritable, "\(error)")
        let problem = failure.problem(path: path, operation: operation)
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

/// An error of the storage: the database cannot be read or written.
package struct StorageFailure: Error, CustomStringConvertible {
    package let kind: StorageProblem.Kind
    /// The reason, one line without the path.
    package let reason: String

    /// Classifies `error`; `nil` if the storage did not cause it, for example if a value violates a constraint.
    package init?(_ error: any Error) {
        switch error {
        case let failure as StorageFailure: self = failure
        case let error as DatabaseError:
            guard let kind = Self.kind(of: error) else { return nil }
            self.kind = kind
            reason = Self.reason(kind, error)
        default: return nil
        }
    }

    init(_ kind: StorageProblem.Kind, _ reason: String) {
        (self.kind, self.reason) = (kind, reason)
    }

    /// Classifies the `errno` of a system call on a file beside the database.
    init(code: CInt) {
        kind =
            switch code {
            case ENOSPC, EDQUOT: .diskFull
            case EROFS: .readOnly
            case EIO: .ioError
            default: .unwritable
            }
        reason = systemMessage(code)
    }

    package var description: String { reason }

    private static func kind(of error: DatabaseError) -> StorageProblem.Kind? {
        switch error.resultCode {
        case .SQLITE_FULL: .diskFull
        case .SQLITE_READONLY: .readOnly
        case .SQLITE_IOERR: .ioError
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: .damaged
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_PROTOCOL, .SQLITE_NOMEM: .unwritable
        default: nil
        }
    }

    private static func reason(_ kind: StorageProblem.Kind, _ error: DatabaseError) -> String {
        switch kind {
        case .diskFull: "the disk is full"
        case .readOnly: "the file system is read-only"
        case .ioError: "the disk reports an error (\(error.extendedResultCode))"
        case .damaged, .setAside, .missing: "the database is damaged"
        case .unwritable: error.message ?? "\(error.resultCode)"
        }
    }

    func problem(path: String, operation: StorageMonitor.Operation) -> StorageProblem {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let doing =
            switch operation {
            case .read: "cannot read"
            case .sync: "cannot sync"
            case .write, .position: "cannot write"
            }
        let hint =
            switch kind {
            case .diskFull: "free space on the file system of \(folder); the service resumes on its own"
            case .readOnly: "mount the file system of \(folder) writable; the service resumes on its own"
            case .ioError: "check the disk of \(folder) (dmesg, smartctl), and run `backgrounder backup FILE`"
            case .damaged:
                "run `backgrounder backup FILE`, then restart the service, which repairs the database"
            case .setAside, .missing: "check what is missing, then run `backgrounder doctor --acknowledge`"
            case .unwritable: "check the owner and mode of \(folder), and whether another program uses the database"
            }
        return StorageProblem(kind, "\(doing) \(path): \(reason)", hint: hint, since: Date())
    }
}
