import Foundation

/// A pipe with a name, by which a program says something to a test; it has no end as long as this is there.
package final class NamedPipe: Sendable {
    package let path: String
    package let reader: LineReader
    private let writing: Int32

    package init(_ path: String) throws {
        guard mkfifo(path, 0o600) == 0 else { throw SystemCallFailure("mkfifo") }
        // Opened this way it does not wait for a writer; read it does.
        let reading = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let writing = open(path, O_WRONLY | O_CLOEXEC)
        guard reading >= 0, writing >= 0, fcntl(reading, F_SETFL, 0) == 0 else { throw SystemCallFailure("open") }
        (self.path, self.writing, reader) = (path, writing, LineReader(reading))
    }

    deinit { close(writing) }
}
