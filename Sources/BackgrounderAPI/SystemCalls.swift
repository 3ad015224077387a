import Glibc

/// What the operating system refused: `errno`.
package struct SystemRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    package var code: Int32

    package init(code: Int32) { self.code = code }

    package var description: String { systemMessage(code) }
}

/// The operating system's words for `code` (an `errno`). May be called from any thread.
package func systemMessage(_ code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        guard let start = buffer.baseAddress, strerror_r(code, start, buffer.count) == 0 else { return "error \(code)" }
        return String(cString: start)
    }
}

/// Runs `body` on a thread of its own that nobody waits for: it may block in C or in the kernel for as long as it likes.
/// Signals stay with the other threads.
///
/// - Parameters:
///   - name: what top(1) and gdb show of it, up to 15 bytes.
///   - stackSize: in bytes; the system's own where none is given.
/// - Throws: ``SystemRefusal`` when there are no more threads.
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
    // Those of a fault of its own stay, so that a crash is told of.
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

/// Names the calling thread. Swift's Glibc has neither of the calls for it; where there is no `/proc` it stays as it was.
private func nameThread(_ name: String) {
    let descriptor = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = write(descriptor, name, name.utf8.count)
    close(descriptor)
}
