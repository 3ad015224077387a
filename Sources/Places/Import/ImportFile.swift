import Glibc

/// Bytes that are read once, from beginning to end: a file or a file in an archive. One thread at a time; blocks on the disk.
protocol ByteSource: AnyObject {
    /// Fills the beginning of `buffer` and returns the number of bytes; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(ImportFault) -> Int
}

/// The owner of the descriptor of an imported file.
final class ImportFile: ByteSource {
    /// Bytes, when the file was opened.
    let size: Int
    let descriptor: Int32
    private var bytesRead = 0

    /// Opens `path`. Refuses all but regular files, without waiting for the writer of a FIFO.
    init(path: String) throws(ImportFault) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw ImportFault(.unreadable(errno)) }
        var attributes = stat()
        guard fstat(descriptor, &attributes) == 0, attributes.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw ImportFault(.notRegular)
        }
        self.descriptor = descriptor
        size = Int(attributes.st_size)
    }

    deinit { close(descriptor) }

    /// Returns the first bytes, at most `count`, without changing what is read next.
    func beginning(_ count: Int) throws(ImportFault) -> [UInt8] { try bytes(at: 0, count: count) }

    /// Returns the bytes from `offset` on, at most `count`, without changing what is read next.
    func bytes(at offset: Int, count: Int) throws(ImportFault) -> [UInt8] {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let result = pread(
                    descriptor,
                    buffer.baseAddress.map { $0 + filled },
                    count - filled,
                    off_t(offset + filled)
                )
                if result < 0, errno == EINTR { continue }
                if result < 0 { code = errno }
                guard result > 0 else { return }
                filled += result
            }
        }
        guard code == 0 else { throw ImportFault(.unreadable(code)) }
        return bytes
    }

    /// Refuses the file if it is empty or larger than `limit` bytes.
    func check(limit: Int) throws(ImportFault) {
        guard size > 0 else { throw ImportFault(.empty) }
        guard size <= limit else { throw ImportFault(.tooLarge(limit: limit)) }
    }

    /// Begins to read at the first byte again.
    func rewind() {
        lseek(descriptor, 0, SEEK_SET)
        bytesRead = 0
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(ImportFault) -> Int {
        guard !Task.isCancelled else { throw ImportFault(.cancelled) }
        var count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        while count < 0, errno == EINTR { count = Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
        guard count >= 0 else { throw ImportFault(.unreadable(errno)) }
        bytesRead += count
        // A file may grow while it is read.
        guard bytesRead <= ImportLimits.textFile else { throw ImportFault(.tooLarge(limit: ImportLimits.textFile)) }
        return count
    }
}
