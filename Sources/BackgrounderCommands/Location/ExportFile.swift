import Glibc
import SystemSupport

/// A file that is named `NAME.part` until it is complete.
final class ExportFile {
    private let path: String
    private let part: String
    private let descriptor: Int32

    /// Creates the part file.
    ///
    /// - Throws: ``CommandFailure``; also if `path` exists and is not a regular file, because the final rename would
    ///   replace it.
    init(_ path: String) throws {
        var attributes = stat()
        if stat(path, &attributes) == 0, attributes.st_mode & S_IFMT != S_IFREG {
            throw CommandFailure("\(path) is not a regular file; use another name, or omit -o for stdout")
        }
        // Replace the target of a symbolic link, not the link.
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        let path = resolved.map { String(cString: $0) } ?? path
        let part = path + ".part"
        // Without O_NONBLOCK, opening a FIFO would wait for a reader.
        let descriptor = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
        guard descriptor >= 0 else { throw Self.failure(part, errno) }
        (self.path, self.part, self.descriptor) = (path, part, descriptor)
    }

    /// Refuses a regular file that exists at `path`.
    ///
    /// - Parameter name: the file in the words of the user.
    /// - Throws: ``CommandFailure``
    static func checkNew(_ path: String, named name: String) throws(CommandFailure) {
        var attributes = stat()
        guard stat(path, &attributes) == 0, attributes.st_mode & S_IFMT == S_IFREG else { return }
        throw CommandFailure("\(name) already exists; overwrite it with --force, or use another name")
    }

    deinit { close(descriptor) }

    /// Appends `piece` to the part file.
    func write(_ piece: ArraySlice<UInt8>) throws {
        let code: Int32 = piece.withUnsafeBytes { bytes in
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

    /// Syncs the part file to the disk, then renames it.
    func complete() throws {
        guard fsync(descriptor) == 0 || errno == EINVAL, rename(part, path) == 0 else {
            let code = errno
            discard()
            throw Self.failure(path, code)
        }
    }

    /// Deletes the part file.
    func discard() {
        unlink(part)
    }

    private static func failure(_ path: String, _ code: Int32) -> CommandFailure {
        CommandFailure("cannot write \(path): \(systemMessage(code)); choose another file with -o, or free disk space")
    }
}
