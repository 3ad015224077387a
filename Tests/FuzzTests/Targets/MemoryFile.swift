import Glibc

/// A file in memory, for readers that take a path.
enum MemoryFile {
    /// Replaces the content of the file by `bytes` and returns its path.
    static func write(_ bytes: [UInt8]) -> String {
        precondition(ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bytes, bytes.count, 0) == bytes.count)
        return "/proc/self/fd/\(descriptor)"
    }

    private static let descriptor: CInt = {
        var name = Array("/dev/shm/fuzz-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        precondition(descriptor >= 0 && unlink(name) == 0)
        return descriptor
    }()
}
