import BackgrounderAPI
import Glibc
import NIOCore

/// A file that has its name only when it is complete; until then it is `NAME.part`.
final class ExportFile {
    private let path: String
    private let part: String
    private let descriptor: Int32

    /// - Throws: ``CommandFailure``, also where `path` is there and no regular file, which a rename would replace.
    init(_ path: String) throws {
        var attributes = stat()
        if stat(path, &attributes) == 0, attributes.st_mode & S_IFMT != S_IFREG {
            throw CommandFailure("\(path) is not a regular file; give another name, or leave -o away for stdout")
        }
        // The file that a symbolic link stands for gets the content; the link stays.
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        let path = resolved.map { String(cString: $0) } ?? path
        let part = path + ".part"
        // Without O_NONBLOCK the opening of a FIFO waits for a reader.
        let descriptor = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
        guard descriptor >= 0 else { throw Self.failure(part, errno) }
        (self.path, self.part, self.descriptor) = (path, part, descriptor)
    }

    deinit { close(descriptor) }

    func write(_ piece: ByteBuffer) throws {
        let code: Int32 = piece.withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno != EINTR { return errno }
                rest = rest.dropFirst(max(0, count))
            }
            return 0
        }
        guard code == 0 else { throw Self.failure(part, code) }
    }

    /// Gives the file its name once it is on the disk.
    func complete() throws {
        guard fsync(descriptor) == 0 || errno == EINVAL, rename(part, path) == 0 else {
            let code = errno
            discard()
            throw Self.failure(path, code)
        }
    }

    /// Removes what was written.
    func discard() {
        unlink(part)
    }

    private static func failure(_ path: String, _ code: Int32) -> CommandFailure {
        CommandFailure("cannot write \(path): \(systemMessage(code)); give another -o, or make room for it")
    }
}

/// A line on a terminal that is written over again and again; elsewhere nothing.
struct ProgressLine {
    let isShown = isatty(STDERR_FILENO) == 1
    private var last: ContinuousClock.Instant?

    /// Shows `text` instead of what was there, a few times a second at most.
    mutating func show(_ text: String) {
        let now = ContinuousClock.now
        guard isShown, last.map({ now - $0 >= .milliseconds(200) }) ?? true else { return }
        last = now
        write("\r\u{1B}[K" + text)
    }

    /// Takes the line away.
    mutating func end() {
        if last != nil { write("\r\u{1B}[K") }
        last = nil
    }

    private func write(_ text: String) {
        _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }
}
