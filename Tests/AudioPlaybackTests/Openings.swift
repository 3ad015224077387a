import Foundation
import TestSupport
import Testing

/// Counts how often a file is opened, by inotify events.
struct Openings: ~Copyable {
    private let descriptor: CInt

    init(of path: String) throws {
        descriptor = inotify_init1(CInt(IN_CLOEXEC))
        try #require(descriptor >= 0)
        try #require(inotify_add_watch(descriptor, path, UInt32(IN_OPEN | IN_CLOSE_NOWRITE)) >= 0)
    }

    deinit { close(descriptor) }

    /// Waits until the file was opened `count` times. Fails after 10 s without an event.
    borrowing func wait(for count: Int) async throws {
        let descriptor = descriptor
        let seen = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Self.count(descriptor, upTo: count)) }
        }
        #expect(seen >= count)
    }

    private static func count(_ descriptor: CInt, upTo count: Int) -> Int {
        var seen = 0
        // Events of a watched file have no name. The kernel merges equal successive events, so watch closings too.
        var event = inotify_event()
        while seen < count {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 10_000) == 1 else { break }
            guard read(descriptor, &event, MemoryLayout<inotify_event>.size) > 0 else { break }
            if event.mask & UInt32(IN_OPEN) != 0 { seen += 1 }
        }
        return seen
    }
}
