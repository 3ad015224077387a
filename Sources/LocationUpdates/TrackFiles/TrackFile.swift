import Glibc

/// The owner of the descriptor of a file that is read once from beginning to end.
///
/// One thread at a time; blocks on the file.
final class TrackFile {
    private let path: String
    private let descriptor: Int32

    /// Opens `path`.
    ///
    /// - Throws: ``TrackFault`` if the file cannot be opened or is not a regular file.
    init(path: String) throws(TrackFault) {
        // Without O_NONBLOCK, opening a FIFO waits for a writer.
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

    /// Reads up to `capacity` bytes; returns 0 at the end. A fault names `line`.
    func read(into buffer: UnsafeMutableRawPointer, capacity: Int, line: () -> Int) throws(TrackFault) -> Int {
        var count = Glibc.read(descriptor, buffer, capacity)
        while count < 0, errno == EINTR { count = Glibc.read(descriptor, buffer, capacity) }
        guard count >= 0 else { throw TrackFault(path: path, line: line(), kind: .unreadable(errno)) }
        return count
    }
}
