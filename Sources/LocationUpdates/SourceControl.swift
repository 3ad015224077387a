import BackgrounderAPI
import CGPS
import Glibc
import Synchronization

/// A message from a source to the manager. Messages arrive in the order in which they happened.
package enum SourceItem: Sendable {
    case report(Report)
    case connected
    /// The connection was lost or refused; the reason is for display.
    case disconnected(reason: String)
    /// The source disconnected for a rest.
    case left
    /// The rest is over, and the source reconnects.
    case returning
    /// The source is connected, and nothing arrived for too long.
    case silent
    /// gpsd has no receiver; the reason is for display.
    case noDevice(reason: String)
    case devicePresent
    /// A line was too long and was skipped; the number of such lines so far.
    case skippedLines(Int)
    /// Lines of a log were skipped.
    case oddLines(OddLines)
    /// The file ended, or is damaged from here on.
    case finished(TrackFault?)
}

/// The messages of one read.
struct SourceBatch: Sendable {
    /// The manager's number for the source.
    let run: Int
    let items: [SourceItem]
}

/// The connection between a source's thread and the manager: batches go one way, acknowledgements and the stop the other.
///
/// A source is at most ``Judgement/batchesAhead`` batches ahead, so that neither a fast file nor a slow disk fills the memory.
final class SourceControl: Sendable {
    enum Wakeup {
        case readable, timeout, stopped
        /// The source must disconnect until the rest is over.
        case resting
    }

    private struct State {
        var isStopped = false
        /// In seconds of the monotonic clock.
        var restEnd: Double?
        var isWaitingForRoom = false
        var outstanding = 0
    }

    private let run: Int
    private let state = Mutex(State())
    private let wakeup: WakeDescriptor
    private let send: @Sendable (SourceBatch) -> Void

    init(run: Int, send: @escaping @Sendable (SourceBatch) -> Void) throws(SystemRefusal) {
        self.run = run
        self.send = send
        wakeup = try WakeDescriptor()
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Stops the source without waiting for its thread. Any thread.
    func stop() {
        state.withLock { $0.isStopped = true }
        wakeup.signal()
    }

    /// Lets the source rest until `end` of the monotonic clock, or ends its rest if `end` is `nil`. Any thread.
    func rest(until end: Double?) {
        let isNews = state.withLock { state in
            defer { state.restEnd = end }
            return state.restEnd != end
        }
        if isNews { wakeup.signal() }
    }

    /// Waits until the rest is over; returns false once stopped. The source's thread.
    func waitForEndOfRest() -> Bool {
        while true {
            let (isStopped, end) = state.withLock { ($0.isStopped, $0.restEnd) }
            if isStopped { return false }
            guard let end else { return true }
            if case .timeout = wakeup.wait(for: nil, until: end) {
                // Only the end that was waited for: it may have moved meanwhile.
                state.withLock { if $0.restEnd == end { $0.restEnd = nil } }
            }
        }
    }

    /// Acknowledges a batch. Any thread.
    func acknowledge() {
        let isAwaited = state.withLock { state in
            state.outstanding -= 1
            return state.isWaitingForRoom
        }
        // An idle source is not woken for every fix.
        if isAwaited { wakeup.signal() }
    }

    /// Sends a batch and waits until there is room for the next; returns false once stopped. The source's thread.
    func deliver(_ items: [SourceItem]) -> Bool {
        if items.isEmpty { return !isStopped }
        let isStopped = state.withLock { state in
            if !state.isStopped { state.outstanding += 1 }
            return state.isStopped
        }
        if isStopped { return false }
        send(SourceBatch(run: run, items: items))
        while true {
            let (isStopped, hasRoom) = state.withLock { state in
                let hasRoom = state.outstanding < Judgement.batchesAhead
                state.isWaitingForRoom = !hasRoom
                return (state.isStopped, hasRoom)
            }
            if isStopped { return false }
            if hasRoom { return true }
            _ = wakeup.wait(for: nil, until: nil)
        }
    }

    /// Waits until `descriptor` is readable, the monotonic clock reaches `deadline`, or the source is stopped or must rest. The
    /// source's thread.
    func wait(for descriptor: Int32? = nil, until deadline: Double?) -> Wakeup {
        while true {
            let (isStopped, restEnd) = state.withLock { ($0.isStopped, $0.restEnd) }
            if isStopped { return .stopped }
            if restEnd != nil { return .resting }
            switch wakeup.wait(for: descriptor, until: deadline) {
            case .signalled: continue
            case .readable: return .readable
            case .timeout: return .timeout
            }
        }
    }
}

/// A descriptor that wakes a thread out of poll(2).
private final class WakeDescriptor: Sendable {
    enum Wakeup {
        case signalled, readable, timeout
    }

    private let descriptor: Int32

    init() throws(SystemRefusal) {
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemRefusal(code: errno) }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    func signal() {
        eventfd_write(descriptor, 1)
    }

    func wait(for other: Int32?, until deadline: Double?) -> Wakeup {
        var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        if let other { descriptors.append(pollfd(fd: other, events: Int16(POLLIN), revents: 0)) }
        while true {
            // Rounded up, since an early timeout would need another round. A far deadline needs several rounds.
            let remaining = deadline.map { min(max(0, ($0 - monotonicSeconds()) * 1000).rounded(.up), 1e9) }
            let count = poll(&descriptors, nfds_t(descriptors.count), remaining.map { Int32($0) } ?? -1)
            if count < 0 { continue }  // Interrupted: the deadline still stands.
            if count == 0 {
                if let deadline, deadline > monotonicSeconds() { continue }
                return .timeout
            }
            if descriptors[0].revents != 0 {
                var value = eventfd_t()
                eventfd_read(descriptor, &value)
                return .signalled
            }
            return .readable
        }
    }
}
