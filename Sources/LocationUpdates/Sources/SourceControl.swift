import CGPS
import Glibc
import Synchronization
import SystemSupport

/// The connection between a source's thread and the manager: batches go one way, acknowledgements and the stop the other.
///
/// A source is at most ``batchesAhead`` batches ahead, so that neither a fast file nor a slow disk fills the memory.
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

    private static let batchesAhead = 4
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
            if !wakeup.wait(until: MonotonicTime(seconds: end)).isSignalled {
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
                let hasRoom = state.outstanding < Self.batchesAhead
                state.isWaitingForRoom = !hasRoom
                return (state.isStopped, hasRoom)
            }
            if isStopped { return false }
            if hasRoom { return true }
            _ = wakeup.wait(until: nil)
        }
    }

    /// Waits until `descriptor` is readable, the monotonic clock reaches `deadline`, or the source is stopped or must rest. The
    /// source's thread.
    func wait(for descriptor: Int32? = nil, until deadline: Double?) -> Wakeup {
        while true {
            let (isStopped, restEnd) = state.withLock { ($0.isStopped, $0.restEnd) }
            if isStopped { return .stopped }
            if restEnd != nil { return .resting }
            let wakeup = wakeup.wait(for: descriptor, until: deadline.map { MonotonicTime(seconds: $0) })
            if wakeup.isSignalled { continue }
            return wakeup.events == 0 ? .timeout : .readable
        }
    }
}
