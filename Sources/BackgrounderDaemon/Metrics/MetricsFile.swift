import Glibc
import Logging
import ServiceLifecycle
import SystemSupport

/// Writes the metrics to a file, for the textfile collector of the node exporter.
///
/// A change is written immediately, and the changes of the next 15 s together after them. The end of the service removes the file.
struct MetricsFile: Service {
    /// Tuned: Prometheus usually reads every 15 s to 60 s.
    private static let interval = Duration.seconds(15)

    private let path: String
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let text: @Sendable () async -> String
    /// What has changed since the last write counts as one change.
    private let changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let writer = QueueExecutor("backgrounder.metrics")

    init(path: String, clock: any Clock<Duration>, logger: Logger, text: @escaping @Sendable () async -> String) {
        (self.path, self.clock, self.logger, self.text) = (path, clock, logger, text)
        noteChange()
    }

    /// Notes that something changed. Any thread.
    func noteChange() { changes.continuation.yield() }

    func run() async {
        var failure: String?
        await withGracefulShutdownHandler {
            for await _ in changes.stream where !Task.isShuttingDownGracefully {
                let text = await text()
                let new = await writer.run { [path] in Self.write(text, to: path) }
                if let new, new != failure {
                    logger.warning("Cannot write the metrics to \(path): \(new); retrying with the next change")
                }
                failure = new
                await cancelWhenGracefulShutdown { try? await clock.sleep(for: Self.interval) }
            }
        } onGracefulShutdown: { [changes] in
            changes.continuation.finish()
        }
        unlink(path)
    }

    /// Replaces the file at `path`, which every user may read. Returns why that failed.
    private static func write(_ text: String, to path: String) -> String? {
        // The collector reads only names that end in `.prom`.
        let part = path + ".part"
        let descriptor = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o644)
        guard descriptor >= 0 else { return systemMessage(errno) }
        // Only if the umask took rights away: some file systems have none.
        _ = fchmod(descriptor, 0o644)
        var text = text
        let isWritten = text.withUTF8 { Glibc.write(descriptor, $0.baseAddress, $0.count) == $0.count }
        let code = errno
        guard close(descriptor) == 0, isWritten else {
            unlink(part)
            return systemMessage(isWritten ? errno : code)
        }
        return rename(part, path) == 0 ? nil : systemMessage(errno)
    }
}
