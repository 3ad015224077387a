package import FoundationEssentials

/// The result of a command to a machine.
package enum CommandResult: String, Codable, CaseIterable, Sendable {
    /// It is stored, and another reply follows.
    case accepted
    case done
    case refused
    /// It came too late, or its turn did.
    case expired
}

/// A command as it is stored before it is executed.
package struct StoredCommand: Hashable, Sendable {
    /// The sender's identifier.
    package var id: String
    /// The name of the publisher whose broker delivered it.
    package var publisher: String
    /// The message.
    package var content: [UInt8]
    /// When it is too late to execute it.
    package var expires: Date
    /// ``CommandResult/accepted`` until it has ended.
    package var result: CommandResult
    package var reason: String?
    /// Whether its execution has begun.
    package var hasBegun: Bool

    /// Creates a command.
    package init(
        id: String,
        publisher: String,
        content: [UInt8],
        expires: Date,
        result: CommandResult = .accepted,
        reason: String? = nil,
        hasBegun: Bool = false
    ) {
        (self.id, self.publisher, self.content, self.expires) = (id, publisher, content, expires)
        (self.result, self.reason, self.hasBegun) = (result, reason, hasBegun)
    }
}

/// The result of storing a new command.
package enum CommandReceipt: Hashable, Sendable {
    case stored
    /// A command with this id was stored earlier.
    case known(StoredCommand)
    /// As many commands as possible wait for their time.
    case full(limit: Int)
}

/// A reply to the sender of a command.
package struct CommandReply: Codable, Hashable, Sendable {
    package var id: String
    /// The id of the machine.
    package var machine: String
    package var result: CommandResult
    package var reason: String?

    /// Creates a reply.
    package init(id: String, machine: String, result: CommandResult, reason: String? = nil) {
        (self.id, self.machine, self.result, self.reason) = (id, machine, result, reason)
    }
}
