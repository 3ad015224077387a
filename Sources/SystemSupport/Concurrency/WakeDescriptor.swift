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
        // poll(2) ignores negative descriptors.
        var others = [pollfd(fd: other ?? -1, events: events, revents: 0)]
        let isSignalled = wait(for: &others, until: deadline)
        return Wakeup(isSignalled: isSignalled, events: others[0].revents)
    }

    /// Blocks the thread until ``signal()`` is called, an event occurs on one of `others`, or `deadline` passes. Sets the `revents` of
    /// `others`.
    ///
    /// - Returns: whether ``signal()`` was called since the last wait.
    package func wait(for others: inout [pollfd], until deadline: MonotonicTime? = nil) -> Bool {
        var descriptors = others + [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        while true {
            let count = poll(&descriptors, nfds_t(descriptors.count), Self.milliseconds(until: deadline))
            // After an interruption, and after a part of a very long wait, the deadline still stands.
            if count < 0 || (count == 0 && deadline.map { .now < $0 } ?? false) { continue }
            for index in others.indices { others[index].revents = descriptors[index].revents }
            guard descriptors[others.count].revents != 0 else { return false }
            var value = eventfd_t()
            eventfd_read(descriptor, &value)
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
