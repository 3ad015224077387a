import BackgrounderAPI
import CLinux
import CMosquitto
import COpenSSL
import Glibc

/// An eventfd(2) that wakes a thread from poll(2).
final class WakeDescriptor: Sendable {
    private let descriptor: Int32

    /// - Throws: ``SystemRefusal`` if there are no more descriptors.
    init() throws(SystemRefusal) {
        let descriptor = backgrounder_eventfd()
        guard descriptor >= 0 else { throw SystemRefusal(code: errno) }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Wakes the waiting thread, or ends its next wait immediately. May be called from any thread.
    func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
    }

    /// Blocks the thread until ``signal()`` is called, one of `events` occurs on `other`, or `deadline` passes.
    ///
    /// - Returns: the poll(2) events of `other`; 0 if there are none.
    func wait(for other: Int32? = nil, events: Int16 = 0, until deadline: SuspendingClock.Instant?) -> Int16 {
        var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        if let other { descriptors.append(pollfd(fd: other, events: events, revents: 0)) }
        while true {
            // Rounded up, so that the wait does not end before the deadline. A very distant deadline takes several
            // waits.
            let timeout = deadline.map { deadline in
                min(max(0, ((deadline - .now) / .milliseconds(1)).rounded(.up)), 1e9)
            }
            let count = poll(&descriptors, nfds_t(descriptors.count), timeout.map { Int32($0) } ?? -1)
            if count < 0 { continue }  // Interrupted: the deadline still stands.
            if descriptors[0].revents != 0 {
                var value: UInt64 = 0
                _ = read(descriptor, &value, MemoryLayout.size(ofValue: value))
            }
            return descriptors.count > 1 ? descriptors[1].revents : 0
        }
    }
}
