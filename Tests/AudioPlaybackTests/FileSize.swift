import Foundation
import Testing

/// Waits for a file to grow, by inotify events.
struct FileSize: ~Copyable {
    private let descriptor: CInt
    private let path: String

    init(of path: String) throws {
        self.path = path
        descriptor = inotify_init1(CInt(IN_CLOEXEC))
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try #require(descriptor >= 0)
        try #require(inotify_add_watch(descriptor, folder, UInt32(IN_MODIFY | IN_CLOSE_WRITE)) >= 0)
    }

    deinit { close(descriptor) }

    /// Waits until the file is closed with more than `size` bytes. Fails after 10 s without an event.
    borrowing func pass(_ size: Int) async throws {
        let (descriptor, path) = (descriptor, path)
        let reached = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Self.wait(descriptor, path, size)) }
        }
        #expect(reached > size)
    }

    /// Returns the size in the WAV header, which is complete once the file has been closed.
    private static func wait(_ descriptor: CInt, _ path: String, _ size: Int) -> Int {
        func stated() -> Int {
            guard let file = FileHandle(forReadingAtPath: path), let head = try? file.read(upToCount: 8),
                head.count == 8
            else { return 0 }
            return (4..<8).reduce(8) { $0 + Int(head[$1]) << (8 * ($1 - 4)) }
        }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while stated() <= size {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 10_000) == 1, read(descriptor, &buffer, buffer.count) > 0 else { break }
        }
        return stated()
    }
}
