import Glibc
import SystemSupport

/// An open regular file. Opening never blocks, not even on a FIFO, and rejects everything but regular files.
///
/// Only one thread may use it at a time.
package final class MediaFile: Sendable {
    package let path: String
    package let descriptor: CInt
    package let size: Int

    /// Opens the file at `path`.
    ///
    /// - Throws: ``MediaError`` if there is no regular file that can be read.
    package init(path: String) throws(MediaError) {
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
    package func bytes(at offset: Int, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
        }
    }
}

extension MediaFile {
    /// The extensions of media in a folder. A file that is named directly may have any name.
    private static let extensions: Set<String> = [
        "mp3", "mp2", "mpga", "wav", "wave", "rf64", "w64", "flac", "ogg", "oga", "opus", "aif", "aiff", "aifc", "au",
        "snd", "caf",
    ]

    /// Returns whether a name or path has the extension of a media file.
    package static func hasMediaName(_ path: String) -> Bool {
        path.utf8.lastIndex(of: UInt8(ascii: "."))
            .map { extensions.contains(path[path.utf8.index(after: $0)...].lowercased()) } ?? false
    }
}

/// Returns the name for a kind of file that is not regular.
package func kindName(_ mode: UInt32) -> String {
    switch mode & S_IFMT {
    case S_IFDIR: "folder"
    case S_IFIFO: "FIFO"
    case S_IFSOCK: "socket"
    case S_IFCHR, S_IFBLK: "device"
    default: "special file"
    }
}
