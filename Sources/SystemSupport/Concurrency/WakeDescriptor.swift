package import CLinux
import Glibc

/// An eventfd(2) that wakes a thread from poll(2).
package final class WakeDescriptor: Sendable {
    /// Why a wait ended.
    package struct Wakeup: Sendable {
        /// Whether ``WakeDescriptor/signal()`` was called since the last wait.
        package var isSignalled: Bool
        /// The events of poll(2) on the other descriptor; 0 if there are none.
        package var events: Int16
    }

    private let descriptor: CInt

    /// Creates the descriptor.
    ///
    /// - Throws: ``SystemRefusal`` if there are no more descriptors.
    package init() throws(SystemRefusal) {
        let descriptor = eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemRefusal(code: errno) }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Wakes the waiting thread, or ends its next wait immediately. Any thread.
    package func signal() { eventfd_write(descriptor, 1) }

    /// Blocks the thread until ``signal()`` is called, one of `events` occurs on `other`, or `deadline` passes.
    package func wait(
        for other: CInt? = nil,
        events: Int16 = Int16(POLLIN),
        until deadline: MonotonicTime?
    ) -> Wakeup {
        withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { descriptors in
            // poll(2) ignores negative descriptors.
            descriptors.initializeElement(at: 0, to: pollfd(fd: other ?? -1, events: events, revents: 0))
            descriptors.initializeElement(at: 1, to: pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
            return Wakeup(isSignalled: Self.wait(for: descriptors, until: deadline), events: descriptors[0].revents)
        }
    }

    /// Blocks the thread until ``signal()`` is called, an event occurs on one of `others`, or `deadline` passes. Sets the `revents` of
    /// `others`.
    ///
    /// - Returns: whether ``signal()`` was called since the last wait.
    package func wait(for others: inout [pollfd], until deadline: MonotonicTime? = nil) -> Bool {
        others.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        defer { others.removeLast() }
        return others.withUnsafeMutableBufferPointer { Self.wait(for: $0, until: deadline) }
    }

    /// Waits for events on `descriptors`. The last one is the eventfd.
    private static func wait(
        for descriptors: UnsafeMutableBufferPointer<pollfd>,
        until deadline: MonotonicTime?
    ) -> Bool {
        while true {
            let count = poll(descriptors.baseAddress, nfds_t(descriptors.count), milliseconds(until: deadline))
            // After an interruption, and after a part of a very long wait, the deadline still stands.
            if count < 0 || (count == 0 && deadline.map { .now < $0 } ?? false) { continue }
            guard let last = descriptors.last, last.revents != 0 else { return false }
            var value = eventfd_t()
            eventfd_read(last.fd, &value)
            return true
        }
    }

    /// Returns the timeout of poll(2): rounded up, since an early one would need another round, and at most a day; -1 for none.
    private static func milliseconds(until deadline: MonotonicTime?) -> CInt {
        guard let deadline else { return -1 }
        let remaining = MonotonicTime.now.duration(to: deadline)
        return CInt(min(max(0, (remaining / .milliseconds(1)).rounded(.up)), 86_400_000))
    }
}
