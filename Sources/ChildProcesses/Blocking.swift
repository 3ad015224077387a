import BackgrounderAPI
import Glibc

/// judgement: many of these threads wait at once, and none goes deep; bytes
let threadStack = 512 << 10

/// What `body` gives, which may block: on a thread of its own, so that no event loop waits with it.
package func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        do {
            try detachThread(named: "blocking call", stackSize: threadStack) { continuation.resume(returning: body()) }
        } catch {
            continuation.resume(returning: body())
        }
    }
}

/// CLOCK_MONOTONIC: time since the machine's start, without its sleep. The same for all processes.
package func monotonicTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
