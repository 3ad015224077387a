/// A command that is to run, with all that it starts, under a keeper.
package struct CommandOrder: Codable, Hashable, Sendable {
    /// The program and its arguments; a program without a slash is looked for in the command's PATH.
    package var arguments: [String]
    /// The directory that it begins in; this process's where there is none.
    package var directory: String?
    /// Variables besides the few that every command inherits, or in their place.
    package var environment: [String: String]
    /// `NAME=VALUE` of the environment that says whose processes these are; also one of ``environment``.
    package var mark: String
    /// What becomes of the command when this process is gone.
    package var lease: Lease
    /// The absolute path of the file that keeps its output (stdout and stderr), and how many bytes of it; the rest is let go.
    package var output: OutputFile?
    /// Where the keeper listens for a later process of the service; without one nobody can find it again.
    package var socket: String?
    /// The file that it leaves behind when all is over, for a service that was not there.
    package var result: String?

    package struct OutputFile: Codable, Hashable, Sendable {
        package var path: String
        package var limit: Int

        package init(path: String, limit: Int) {
            self.path = path
            self.limit = limit
        }
    }

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

/// What a keeper does by itself once the service that began the command is gone. Times are nanoseconds of the monotonic clock.
package enum Lease: Codable, Hashable, Sendable {
    /// Kill the tree at once.
    case none
    /// SIGTERM to the group at one time, the end of the tree at the other.
    case until(term: Int64, kill: Int64)
    /// As ``until(term:kill:)``, counted from when it was left alone.
    case after(term: Int64, kill: Int64)

    /// When it asks and when it ends, for one that was left alone at `time`.
    func deadlines(aloneSince time: Int64) -> (term: Int64, kill: Int64) {
        switch self {
        case .none: (time, time)
        case .until(let term, let kill): (term, kill)
        case .after(let term, let kill): (time + term, time + kill)
        }
    }
}

/// How it went with a command that began.
package struct CommandEnd: Codable, Hashable, Sendable {
    /// As a shell has it: 128 and the signal's number where a signal ended it.
    package var exitStatus: Int32
    /// Whether it was asked to end, or killed, before it ended by itself.
    package var wasEnded: Bool
    /// When the command itself had ended: nanoseconds of the monotonic clock.
    package var time: Int64
    /// Whether nothing of its tree is left.
    package var isComplete: Bool

    package init(exitStatus: Int32, wasEnded: Bool, time: Int64, isComplete: Bool = true) {
        self.exitStatus = exitStatus
        self.wasEnded = wasEnded
        self.time = time
        self.isComplete = isComplete
    }
}

extension Duration {
    /// Whole nanoseconds, for 292 years.
    package var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
