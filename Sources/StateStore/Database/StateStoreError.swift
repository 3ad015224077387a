import GRDB

/// An error that prevents a store from being opened.
package enum StateStoreError: Error, Hashable, CustomStringConvertible {
    /// A later version of Backgrounder wrote the file; it is unchanged.
    case newer(path: String)
    /// The file, or a file beside it, failed; `code` is the `errno` of a failed system call.
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
            "cannot open \(path): a later version of Backgrounder wrote it; install that version, or use another --home"
        case .failed(let path, let reason, _):
            "cannot open \(path): \(reason); check the folder's owner and mode, and the free space"
        }
    }
}
