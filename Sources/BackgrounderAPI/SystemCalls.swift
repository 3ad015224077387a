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
///
/// - Parameter stackSize: in bytes; the system's own where none is given.
/// - Throws: ``SystemRefusal`` when there are no more threads.
package func detachThread(
    stackSize: Int? = nil,
    _ body: @escaping @Sendable () -> Void
) throws(SystemRefusal) {
    final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
    defer { pthread_attr_destroy(&attributes) }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body))
    let result = pthread_create(
        &thread,
        &attributes,
        { argument in
            guard let argument else { return nil }
            Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
            return nil
        },
        box.toOpaque()
    )
    guard result == 0 else {
        box.release()
        throw SystemRefusal(code: result)
    }
}
