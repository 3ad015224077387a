import NIOCore
import NIOPosix

/// The monotonic clock, with sleeps on an event loop's timer.
///
/// `ContinuousClock` itself would start libdispatch's pool at the first sleep, which then wakes the process once a second for
/// ever.
struct EventLoopClock: Clock {
    typealias Instant = ContinuousClock.Instant

    /// The clock on the event loops that the whole service shares.
    static let shared = EventLoopClock(group: MultiThreadedEventLoopGroup.singleton)

    let group: any EventLoopGroup

    var now: Instant { .now }
    var minimumResolution: Duration { .milliseconds(1) }

    /// Suspends until `deadline`.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let delay = deadline - now
        guard delay > .zero else { return try Task.checkCancellation() }
        let sleep = group.any().scheduleTask(in: TimeAmount(delay)) {}
        try await withTaskCancellationHandler {
            do {
                try await sleep.futureResult.get()
            } catch {
                throw CancellationError()
            }
        } onCancel: {
            sleep.cancel()
        }
    }
}
