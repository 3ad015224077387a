package import BackgrounderAPI

/// The persistent storage of a ``CommandDesk``.
package protocol CommandJournal: Sendable {
    /// Returns the command with this id, if it was stored before.
    func find(_ id: String) async throws -> StoredCommand?

    /// Stores a new command on the disk.
    func receive(_ command: StoredCommand) async throws -> CommandReceipt

    /// Records on the disk that the execution of a command begins. Returns whether the command still waits for it.
    func begin(_ id: String) async throws -> Bool

    /// Stores how a command ended.
    func end(_ id: String, _ end: CommandEnd) async throws
}

/// How a command ended.
package struct CommandEnd: Hashable, Sendable {
    /// Not ``CommandResult/accepted``.
    package var result: CommandResult
    package var reason: String?

    /// Creates an end.
    package init(_ result: CommandResult, _ reason: String? = nil) { (self.result, self.reason) = (result, reason) }
}

/// The parts of the service that execute commands.
package protocol CommandWorkers: Sendable {
    /// Prepares what takes long, for a command that is executed later.
    ///
    /// - Returns: the end of a command that cannot be executed.
    func prepare(_ command: FleetCommand) async -> CommandEnd?

    /// Begins to execute a command.
    func begin(_ command: FleetCommand, of publisher: String) async -> CommandStart
}

/// The beginning of a command's execution.
package enum CommandStart: Sendable {
    case ended(CommandEnd)
    /// The rest takes longer, and other commands need not wait for it.
    case continues(@Sendable () async -> CommandEnd)
}
