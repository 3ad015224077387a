import Glibc

/// Owns the descriptor of a file that is read from its beginning to its end.
///
/// To be used by one thread at a time; it blocks on the file.
final class TrackFile {
    private let path: String
    private let descriptor: Int32

    /// - Throws: where `path` cannot be opened, or is no regular file.
    init(path: String) throws(TrackFault) {
        // Without O_NONBLOCK the opening of a FIFO waits for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw TrackFault(path: path, kind: .unreadable(errno)) }
        var attributes = stat()
        guard fstat(descriptor, &attributes) == 0, attributes.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw TrackFault(path: path, kind: .notRegular)
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Reads up to `capacity` bytes; 0 at the end. A fault names `line`.
    func read(into buffer: UnsafeMutableRawPointer, capacity: Int, line: () -> Int) throws(TrackFault) -> Int {
        var count = Glibc.read(descriptor, buffer, capacity)
        while count < 0, errno == EINTR { count = Glibc.read(descriptor, buffer, capacity) }
        guard count >= 0 else { throw TrackFault(path: path, line: line(), kind: .unreadable(errno)) }
        return count
    }
}
