import Glibc

/// The error for a refused system call: its `errno`.
package struct SystemRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    package var code: Int32

    /// Creates the error for an `errno`.
    package init(code: Int32) { self.code = code }

    package var description: String { systemMessage(code) }
}

/// Returns the operating system's text for `code` (an `errno`). Any thread.
package func systemMessage(_ code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        guard let start = buffer.baseAddress, strerror_r(code, start, buffer.count) == 0 else { return "error \(code)" }
        return String(cString: start)
    }
}

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
            nameThread(box.name)
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

/// Names the calling thread. Swift's Glibc module lacks the calls for it; without `/proc` the name does not change.
private func nameThread(_ name: String) {
    let descriptor = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = write(descriptor, name, name.utf8.count)
    close(descriptor)
}
