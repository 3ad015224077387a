import BackgrounderAPI
import CLinux
import Glibc

/// Tells when the clock on the wall was set, the machine woke up, or was given another time zone.
///
/// A thread of its own sleeps in poll(2) on a timer that the kernel cancels at a jump (timerfd_create(2),
/// TFD_TIMER_CANCEL_ON_SET), and on the directory of the zone's file. Without a jump it never wakes up.
final class ClockWatch: Sendable {
    private let endEvent: CInt

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
                // Without it, plans are merely a day late.
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
                    // ECANCELED is the jump.
                    isJump = read(timer, &count, 8) < 0 && errno == ECANCELED
                    clinux_watch_clock(timer)
                }
                if waiting[1].revents != 0, takeNames(zone) { isJump = true }
                if isJump { onJump() }
            }
        }

        /// Whether one of the changes was the zone's.
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
