import Glibc

/// A thread or a descriptor that the operating system refuses: `errno`.
struct SystemRefusal: Error, Hashable, Sendable {
    var code: Int32
}

/// Runs `body` on a thread of its own that nobody waits for: it may block in C for as long as it likes.
func detachThread(_ body: @escaping @Sendable () -> Void) throws(SystemRefusal) {
    final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
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
