import CLinux
import Glibc
package import SystemSupport

/// A small file with secrets, which only its owner may access.
package enum SecretFile {
    /// Returns the text of the file at `path`; `nil` if it has more than `limit` bytes, contains NUL or is not valid
    /// UTF-8.
    ///
    /// Blocks on disk I/O.
    ///
    /// - Throws: ``CredentialsError`` if the file is missing, unreadable, not regular, or accessible to other users.
    package static func text(at path: String, limit: Int) throws(CredentialsError) -> String? {
        // O_NONBLOCK because the path may be a FIFO.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw errno == ENOENT ? .missing(path) : .unreadable(path, systemMessage(errno)) }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw .unreadable(path, systemMessage(errno)) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw .unreadable(path, "not a regular file") }
        guard facts.st_mode & 0o077 == 0 else { throw .open(path, mode: facts.st_mode & 0o777) }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw .unreadable(path, systemMessage(errno)) }
        guard count <= limit, let text = String(validating: bytes[..<count], as: UTF8.self), !text.contains("\0") else {
            return nil
        }
        return text
    }
}

extension QueueExecutor {
    /// Reads files with credentials.
    package static let credentials = QueueExecutor("backgrounder.credentials")
}
