import BackgrounderAPI
import CLinux
import CMosquitto
import COpenSSL
import Glibc

/// A descriptor that wakes a thread out of poll(2).
final class WakeDescriptor: Sendable {
    private let descriptor: Int32

    init() throws(SystemRefusal) {
        let descriptor = backgrounder_eventfd()
        guard descriptor >= 0 else { throw SystemRefusal(code: errno) }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// From any thread.
    func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
    }

    /// Waits until it is signalled, `other` has one of `events`, or the clock says `deadline`.
    ///
    /// - Returns: poll(2)'s events of `other`; 0 for all else.
    func wait(for other: Int32? = nil, events: Int16 = 0, until deadline: SuspendingClock.Instant?) -> Int16 {
        var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        if let other { descriptors.append(pollfd(fd: other, events: events, revents: 0)) }
        while true {
            // Rounded up, so that a wait does not end early and begin anew; a far deadline is reached in several waits.
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
