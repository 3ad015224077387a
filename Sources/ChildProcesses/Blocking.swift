import BackgrounderAPI
import Glibc

/// Tuned: bytes of stack; many of these threads wait at the same time, and none of them recurses.
let threadStack = 512 << 10

/// Returns the result of `body`, which may block: it runs on a thread of its own, so that no event loop waits for it.
package func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        do {
            try detachThread(named: "blocking call", stackSize: threadStack) { continuation.resume(returning: body()) }
        } catch {
            continuation.resume(returning: body())
        }
    }
}

/// Returns the time of CLOCK_MONOTONIC: since the start of the machine, without sleep, the same for all processes.
package func monotonicTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
