package import BackgrounderAPI
import FoundationEssentials
import GRDB
import Glibc
import SystemSupport

/// An error of the storage: the database cannot be read or written.
package struct StorageFailure: Error, CustomStringConvertible {
    package let kind: StorageProblem.Kind
    /// The reason, one line without the path.
    package let reason: String

    /// Classifies `error`; `nil` if the storage did not cause it, for example if a value violates a constraint.
    init?(_ error: any Error) {
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
        reason =
            switch code {
            case ENOSPC: Self.full
            case EROFS: Self.readOnly
            default: systemMessage(code)
            }
    }

    package var description: String { reason }

    private static let full = "the disk is full"
    private static let readOnly = "the file system is read-only"

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
        case .diskFull: full
        case .readOnly: readOnly
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
