import CLinux
import Glibc

/// Runs `body` on a new detached thread, where it may block for any time. Signals are delivered to other threads.
///
/// - Parameters:
///   - name: the name in top(1) and gdb, up to 15 bytes.
///   - stackSize: bytes (default: the system's).
/// - Throws: ``SystemRefusal`` if the system refuses a thread.
package func detachThread(
    named name: String,
    stackSize: Int? = nil,
    _ body: @escaping @Sendable () -> Void
) throws(SystemRefusal) {
    final class Box {
        let name: String
        let body: @Sendable () -> Void
        init(_ name: String, _ body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }
    }
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
    defer { pthread_attr_destroy(&attributes) }
    var (all, before) = (sigset_t(), sigset_t())
    sigfillset(&all)
    // Signals for faults stay unblocked, so that a crash is reported.
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP] { sigdelset(&all, fault) }
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(name, body))
    let result = pthread_create(
        &thread,
        &attributes,
        { argument in
            guard let argument else { return nil }
            let box = Unmanaged<Box>.fromOpaque(argument).takeRetainedValue()
            clinux_set_name(box.name)
            box.body()
            return nil
        },
        box.toOpaque()
    )
    guard result == 0 else {
        box.release()
        throw SystemRefusal(code: result)
    }
}

/// Returns the result of `body`, which may block for any time: it runs on a thread of its own.
///
/// - Parameter thread: the name of the thread, up to 15 bytes.
package func blocking<Value: Sendable>(
    onThread thread: String,
    _ body: @escaping @Sendable () -> Value
) async -> Value {
    await withCheckedContinuation { continuation in
        do {
            try detachThread(named: thread, stackSize: smallStack) { continuation.resume(returning: body()) }
        } catch {
            continuation.resume(returning: body())
        }
    }
}

/// Tuned: bytes of stack for threads of which many wait at the same time, and none recurses.
package let smallStack = 512 << 10

/// Sets the niceness of the calling thread only, from -20 to 19, if the system allows it. On Linux, setpriority(2) treats a thread as
/// a process.
package func setNiceness(_ niceness: Int32) {
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
}
