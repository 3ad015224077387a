import BackgrounderAPI
import Glibc

/// An open regular file. Opening never blocks, not even on a FIFO, and rejects everything but regular files.
///
/// Only one thread may use it at a time.
final class MediaFile: Sendable {
    let path: String
    let descriptor: CInt
    let size: Int

    init(path: String) throws(PlayerError) {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            let code = errno
            throw code == ENOENT ? .noSuchPath(path: path) : .unreadable(path: path, reason: systemMessage(code))
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw .unreadable(path: path, reason: systemMessage(code))
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .notPlayableKind(path: path, kind: kindName(status.st_mode))
        }
        self.path = path
        self.descriptor = descriptor
        size = Int(status.st_size)
    }

    deinit { close(descriptor) }

    /// Returns up to `count` bytes at `offset`.
    func bytes(at offset: Int, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
        }
    }
}

/// Returns the name for a kind of file that is not regular.
func kindName(_ mode: mode_t) -> String {
    switch mode & S_IFMT {
    case S_IFDIR: "folder"
    case S_IFIFO: "FIFO"
    case S_IFSOCK: "socket"
    case S_IFCHR, S_IFBLK: "device"
    default: "special file"
    }
}
