import BackgrounderAPI

/// Who opened a connection.
struct ConnectionOpener: Sendable {
    enum Owner: Hashable, Sendable {
        /// A user on the Unix socket.
        case user(UInt32)
        /// A host of the network, by its address.
        case host(String)
    }

    let owner: Owner
    /// `nil` for a user without rights, and for a host, whose requests need a session.
    let level: AccessLevel?
    /// Whether slots are reserved for the owner.
    let isPrivileged: Bool
}

/// The sender of a request.
struct Caller: Sendable {
    enum Identity: Hashable, Sendable, CustomStringConvertible {
        case user(UInt32)
        /// A browser tab with a session.
        case session(Int)
        /// A browser tab that has only a code.
        case stranger

        var description: String {
            switch self {
            case .user(let id): "user \(id)"
            case .session(let id): "session \(id)"
            case .stranger: "a page without a session"
            }
        }
    }

    let identity: Identity
    /// `nil` for a user without rights.
    let level: AccessLevel?
    /// The number of event readers that this caller may have.
    let mostReaders: Int

    /// Whether the request came over TCP.
    var isRemote: Bool {
        if case .user = identity { false } else { true }
    }

    /// Checks that the caller has the right `level`, and uses the Unix socket if `isLocal`.
    ///
    /// - Throws: ``WireError`` with `forbidden` otherwise.
    func require(_ level: AccessLevel, isLocal: Bool) throws(WireError) {
        if isRemote, isLocal || level >= .execute {
            throw WireError(.forbidden, "a page may not do this", hint: "use the command line on the machine")
        }
        guard let own = self.level else {
            throw WireError(
                .forbidden,
                "\(identity) may not use this service",
                hint: "run it as the service's user or as root, or join the group of control.group"
            )
        }
        guard own < level else { return }
        throw WireError(
            .forbidden,
            "\(identity) lacks the right to \(level.rawValue)",
            hint: isRemote
                ? "open the page again, without --read-only"
                : "the operator can add the user, or a group of the user, to control.execute"
        )
    }
}
