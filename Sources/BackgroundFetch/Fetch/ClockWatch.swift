import CLinux
import Glibc
import SystemSupport

/// Reports when the wall clock is set, the machine resumes, or its time zone changes.
///
/// A dedicated thread waits in poll(2) on a timer that the kernel cancels when the clock jumps (timerfd_create(2),
/// TFD_TIMER_CANCEL_ON_SET), and on changes in the directory of the time zone file. Otherwise it never wakes up.
final class ClockWatch: Sendable {
    /// `nil` if the system refused the descriptor: then plans adapt to a new time up to a day late.
    private let end: WakeDescriptor?

    /// Starts the thread.
    ///
    /// - Parameter onJump: called on the thread.
    init(onJump: @escaping @Sendable () -> Void) {
        end = try? WakeDescriptor()
        guard let end else { return }
        try? detachThread(named: "clock watch") { Self.watch(until: end, onJump) }
    }

    /// Ends the thread.
    func stop() { end?.signal() }

    private static func watch(until end: WakeDescriptor, _ onJump: () -> Void) {
        let timer = clinux_clock_watch()
        let zone = inotify_init1(O_CLOEXEC | O_NONBLOCK)
        defer { for descriptor in [timer, zone] where descriptor >= 0 { close(descriptor) } }
        if zone >= 0 { inotify_add_watch(zone, "/etc", UInt32(IN_MOVED_TO) | UInt32(IN_CREATE)) }
        clinux_watch_clock(timer)
        var waiting = [timer, zone].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while !end.wait(for: &waiting) {
            var isJump = false
            if waiting[0].revents != 0 {
                var count: UInt64 = 0
                // ECANCELED: the clock was set.
                isJump = read(timer, &count, 8) < 0 && errno == ECANCELED
                clinux_watch_clock(timer)
            }
            if waiting[1].revents != 0, namesZone(zone) { isJump = true }
            if isJump { onJump() }
        }
    }

    /// Reads all pending changes of the directory, and returns whether one of them affects the time zone file.
    private static func namesZone(_ changes: CInt) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var isZone = false
        while true {
            let count = read(changes, &buffer, buffer.count)
            guard count > 0 else { return isZone }
            if buffer[..<count].firstRange(of: Array("localtime\0".utf8)) != nil { isZone = true }
        }
    }
}
