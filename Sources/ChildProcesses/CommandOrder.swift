/// An order to run a command, with everything that it starts, under a keeper process.
package struct CommandOrder: Codable, Hashable, Sendable {
    /// The program and its arguments. A program without a slash is searched in the command's PATH.
    package var arguments: [String]
    /// The working directory; `nil` for that of this process.
    package var directory: String?
    /// Variables that are added to the few that every command inherits, or replace them.
    package var environment: [String: String]
    /// The variable `NAME=VALUE` that marks the command's processes; also in ``environment``.
    package var mark: String
    /// The fate of the command if this process dies.
    package var lease: Lease
    /// The file for stdout and stderr, and its size limit; the rest is discarded.
    package var output: OutputFile?
    /// The path where the keeper listens for a later process of the service; `nil` if it need not be found again.
    package var socket: String?
    /// The file for the result, if the command ends while the service is not running.
    package var result: String?

    /// A file for the output of a command.
    package struct OutputFile: Codable, Hashable, Sendable {
        package var path: String
        package var limit: Int

        /// Creates an output file.
        ///
        /// - Parameters:
        ///   - path: an absolute path.
        ///   - limit: bytes.
        package init(path: String, limit: Int) {
            self.path = path
            self.limit = limit
        }
    }

    /// Creates an order. Nothing happens before it is passed to ``KeptProcess/begin(_:keeper:input:output:)``.
    package init(
        _ arguments: [String],
        directory: String? = nil,
        environment: [String: String] = [:],
        mark: String,
        lease: Lease = .none,
        output: OutputFile? = nil,
        socket: String? = nil,
        result: String? = nil
    ) {
        self.arguments = arguments
        self.directory = directory
        self.environment = environment
        self.mark = mark
        self.lease = lease
        self.output = output
        self.socket = socket
        self.result = result
    }
}

/// A keeper's instructions for the time when the service that began the command is gone. Times are nanoseconds of the monotonic clock.
package enum Lease: Codable, Hashable, Sendable {
    /// Kill the tree immediately.
    case none
    /// Send SIGTERM to the group at one time, kill the tree at the other.
    case until(term: Int64, kill: Int64)
    /// Like ``until(term:kill:)``, counted from when the service left.
    case after(term: Int64, kill: Int64)

    /// Returns when to send SIGTERM and when to kill, if the service left at `time`.
    func deadlines(aloneSince time: Int64) -> (term: Int64, kill: Int64) {
        switch self {
        case .none: (time, time)
        case .until(let term, let kill): (term, kill)
        case .after(let term, let kill): (time + term, time + kill)
        }
    }
}

/// The end of a command.
package struct CommandEnd: Codable, Hashable, Sendable {
    /// The exit status as in a shell: 128 plus the signal's number if a signal ended the command.
    package var exitStatus: Int32
    /// Whether the command was asked to end, or killed, before it ended by itself.
    package var wasEnded: Bool
    /// When the command itself ended, in nanoseconds of the monotonic clock.
    package var time: Int64
    /// Whether nothing of its process tree is left.
    package var isComplete: Bool

    /// Creates the end of a command.
    package init(exitStatus: Int32, wasEnded: Bool, time: Int64, isComplete: Bool = true) {
        self.exitStatus = exitStatus
        self.wasEnded = wasEnded
        self.time = time
        self.isComplete = isComplete
    }
}
