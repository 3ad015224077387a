import GRDB

/// Why a store cannot be opened.
package enum StateStoreError: Error, CustomStringConvertible {
    /// A later version of Backgrounder wrote it; it was left as it is.
    case newer(path: String)
    /// `code` is that of a failed system call.
    case failed(path: String, reason: String, code: CInt? = nil)

    init(opening path: String, _ error: any Error) {
        switch error {
        case let error as StateStoreError: self = error
        case let error as DatabaseError:
            self = .failed(path: path, reason: error.message ?? "SQLite error \(error.resultCode.rawValue)")
        default: self = .failed(path: path, reason: String(describing: error))
        }
    }

    package var description: String {
        switch self {
        case .newer(let path):
            "\(path) was written by a later version of Backgrounder; install that version, or give another --home"
        case .failed(let path, let reason, _):
            "cannot open \(path): \(reason); check the folder's owner and mode and the free space"
        }
    }
}
