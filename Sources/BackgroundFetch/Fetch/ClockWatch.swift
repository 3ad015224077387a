import BackgrounderAPI
import CLinux
import Glibc

/// Reports when the wall clock is set, the machine resumes, or its time zone changes.
///
/// A dedicated thread waits in poll(2) on a timer that the kernel cancels when the clock jumps (timerfd_create(2),
/// TFD_TIMER_CANCEL_ON_SET), and on changes in the directory of the time zone file. Otherwise it never wakes up.
final class ClockWatch: Sendable {
    private let endEvent: CInt

    /// Starts the thread.
    ///
    /// - Parameter onJump: called on the thread.
    init(onJump: @escaping @Sendable () -> Void) {
        let end = eventfd(0, CInt(EFD_CLOEXEC))
        endEvent = end
        guard end >= 0 else { return }
        let thread = Thread(end: dup(end), onJump: onJump)
        thread.start()
    }

    deinit {
        if endEvent >= 0 { close(endEvent) }
    }

    /// Ends the thread.
    func end() {
        if endEvent >= 0 { eventfd_write(endEvent, 1) }
    }

    private struct Thread: Sendable {
        let end: CInt
        let onJump: @Sendable () -> Void

        func start() {
            do {
                try detachThread(named: "clock watch") { watch() }
            } catch {
                // Without this thread, plans adapt to a new time up to a day late.
                close(end)
            }
        }

        private func watch() {
            let timer = clinux_clock_watch()
            let zone = inotify_init1(O_CLOEXEC | O_NONBLOCK)
            defer { for descriptor in [timer, zone, end] where descriptor >= 0 { close(descriptor) } }
            if zone >= 0 { inotify_add_watch(zone, "/etc", UInt32(IN_MOVED_TO) | UInt32(IN_CREATE)) }
            clinux_watch_clock(timer)
            while true {
                var waiting = [timer, zone, end].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                guard poll(&waiting, nfds_t(waiting.count), -1) > 0 else {
                    if errno == EINTR { continue }
                    return
                }
                if waiting[2].revents != 0 { return }
                var isJump = false
                if waiting[0].revents != 0 {
                    var count: UInt64 = 0
                    // ECANCELED: the clock was set.
                    isJump = read(timer, &count, 8) < 0 && errno == ECANCELED
                    clinux_watch_clock(timer)
                }
                if waiting[1].revents != 0, takeNames(zone) { isJump = true }
                if isJump { onJump() }
            }
        }

        /// Reads all pending changes, and returns whether one of them affects the time zone file.
        private func takeNames(_ zone: CInt) -> Bool {
            var buffer = [UInt8](repeating: 0, count: 4096)
            var isZone = false
            while true {
                let count = read(zone, &buffer, buffer.count)
                guard count > 0 else { return isZone }
                if buffer[..<count].firstRange(of: Array("localtime\0".utf8)) != nil { isZone = true }
            }
        }
    }
}
