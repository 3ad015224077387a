import SystemSupport

extension QueueExecutor {
    /// Decompresses and parses content and computes plans, which take too long for an event loop.
    static let content = QueueExecutor("backgrounder.fetch.content")
}
