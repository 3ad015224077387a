import NIOCore
import ServiceLifecycle

extension Channel {
    /// Closes the connection after `limit`, unless the result is cancelled before. A write to a reader that does not read has no other
    /// end.
    func scheduleClose(after limit: Duration) -> Scheduled<Void> {
        eventLoop.scheduleTask(in: TimeAmount(limit)) { self.close(promise: nil) }
    }
}

extension Task<Never, Never> {
    /// Breaks a response off during graceful shutdown, so that an incomplete one does not look complete.
    ///
    /// - Throws: `CancellationError`.
    static func checkGracefulShutdown() throws {
        if isShuttingDownGracefully { throw _Concurrency.CancellationError() }
    }
}
