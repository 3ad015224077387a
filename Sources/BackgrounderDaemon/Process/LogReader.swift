import BackgrounderAPI
import ControlServer
import ServiceLog
import SystemSupport

/// Reads the log for clients.
actor LogReader {
    private static let most = 1000

    private let executor = QueueExecutor("backgrounder.log.reading")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let log: DaemonLog

    init(log: DaemonLog) { self.log = log }

    /// Answers `GET /v1/log`.
    func records(_ request: RouteRequest<Empty>) throws -> [LogRecord] {
        let last = request.query("last") ?? "100"
        guard let count = Int(last), (1...Self.most).contains(count) else {
            throw WireError(.invalid, "last=\(last) is out of range", hint: "use a whole number from 1 to \(Self.most)")
        }
        let level = try request.query("level").map { text throws(WireError) in
            guard let level = LogLevel(rawValue: text) else {
                let all = LogLevel.allCases.map(\.rawValue).joined(separator: ", ")
                throw WireError(.invalid, "level=\(text) is not a level", hint: "use one of \(all)")
            }
            return level
        }
        let filter = LogFilter(since: try request.time("since"), level: level, text: request.query("grep"))
        return log.newest(count, filter)
    }
}
