import NIOCore
import NIOPosix

/// The monotonic clock, with sleeps by an event loop's timer.
///
/// `ContinuousClock` itself would start libdispatch's pool at the first sleep, which then wakes up once a second for ever.
struct EventLoopClock: Clock {
    typealias Instant = ContinuousClock.Instant

    /// On the event loops that all of the service shares.
    static let shared = EventLoopClock(group: MultiThreadedEventLoopGroup.singleton)

    let group: any EventLoopGroup

    var now: Instant { .now }
    var minimumResolution: Duration { .milliseconds(1) }

    /// - Throws: `CancellationError` when the task is cancelled.
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
