import BackgrounderAPI
import Glibc
import ServiceLog
import SystemSupport

/// The newest lines of the service's log.
struct LogLines: Sendable {
    private(set) var records: [LogRecord] = []
    /// Why the log cannot be read.
    private(set) var fault: String?
    /// Whether the log was read once.
    private(set) var isRead = false

    /// Tuned: more than a person scrolls back.
    static let most = 1000

    /// Appends lines, oldest first. Only the newest ``most`` lines stay.
    mutating func append(_ new: [LogRecord]) {
        isRead = true
        records = (records + new.suffix(Self.most)).suffix(Self.most)
    }

    mutating func fail(_ reason: String) {
        (fault, isRead) = (reason, true)
    }
}

/// A reader of the service's log that follows it until the process ends.
enum LogTail {
    /// Reads the log at `path` on a thread of its own: the newest lines first, then new ones as they are written.
    ///
    /// - Parameter post: Runs on that thread.
    static func begin(_ path: String, _ post: @escaping @Sendable (Result<[LogRecord], CommandFailure>) -> Void) {
        do {
            try detachThread(named: "log", stackSize: smallStack) {
                do {
                    let file = try LogFile.existing(path)
                    post(.success(file.newest(LogLines.most, LogFilter())))
                    try file.follow { post(.success([LogRecord(line: $0)])) }
                } catch let failure as CommandFailure {
                    post(.failure(failure))
                } catch {
                    post(.failure(CommandFailure("cannot read \(path): \(error)")))
                }
            }
        } catch {
            post(.failure(CommandFailure("cannot read \(path): \(error)")))
        }
    }
}
