import Foundation

/// A named pipe through which a program reports to a test. It does not end while this object exists.
package final class NamedPipe: Sendable {
    package let path: String
    package let reader: LineReader
    private let writing: Int32

    package init(_ path: String) throws {
        guard mkfifo(path, 0o600) == 0 else { throw SystemCallFailure("mkfifo") }
        // With O_NONBLOCK `open` does not wait for a writer. Reading must block, so the flag is cleared below.
        let reading = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let writing = open(path, O_WRONLY | O_CLOEXEC)
        guard reading >= 0, writing >= 0, fcntl(reading, F_SETFL, 0) == 0 else { throw SystemCallFailure("open") }
        (self.path, self.writing, reader) = (path, writing, LineReader(reading))
    }

    deinit { close(writing) }
}
