import ServiceLifecycle

extension AsyncThrowingStream where Element: Sendable, Failure == any Error {
    /// Returns the next element, or `nil` at the end of the stream. The graceful shutdown ends the stream.
    ///
    /// This is not `cancelOnGracefulShutdown()`, which can block an event loop without end: the merge below it holds a lock when it
    /// suspends (https://github.com/apple/swift-async-algorithms/issues/430).
    func nextUntilShutdown() async throws -> Element? {
        try await cancelWhenGracefulShutdown {
            var elements = makeAsyncIterator()
            return try await elements.next()
        }
    }
}
