package import Logging
import Synchronization

/// Collects log messages.
package final class LogLines: LogHandler, Sendable {
    private let all = Mutex<[(level: Logger.Level?, text: String)]>([])
    private let signal = Signal()

    package init() {}

    /// The messages of every level and the notes.
    package var messages: [String] { all.withLock { $0.map(\.text) } }

    /// The messages at info and above, each after its level.
    package var lines: [String] {
        all.withLock { all in
            all.compactMap { level, text in level.flatMap { $0 >= .info ? "\($0) \(text)" : nil } }
        }
    }

    /// Returns the messages that begin with `prefix` once there are `count` of them.
    @discardableResult
    package func wait(for count: Int, with prefix: String) async throws -> [String] {
        try await signal.wait(for: "\(count) messages with \(prefix)") {
            let found = messages.filter { $0.hasPrefix(prefix) }
            return found.count >= count ? found : nil
        }
    }

    /// Adds a note to the messages.
    package func note(_ text: String) { keep(nil, text) }

    package func log(event: LogEvent) { keep(event.level, "\(event.message)") }

    private func keep(_ level: Logger.Level?, _ text: String) {
        all.withLock { $0.append((level, text)) }
        signal.post()
    }

    package var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    package var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }
}
