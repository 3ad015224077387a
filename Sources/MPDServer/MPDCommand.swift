/// A command of the protocol: its number of arguments, the permission it needs, and its action.
struct MPDCommand: Sendable {
    /// The clients that may use a command.
    enum Access: Sendable {
        /// All clients, even without permissions.
        case everybody
        /// Clients with the permission that the command needs.
        case permitted
        /// No client; the command always fails with this error.
        case refused(MPDError)
    }

    typealias Body = @Sendable (isolated MPDSession, MPDArguments) async throws -> Void

    let name: String
    let access: Access
    private let arguments: ClosedRange<Int>
    private let body: @Sendable (isolated MPDSession, MPDArguments) async throws -> MPDSession.Outcome

    init(_ name: String, _ arguments: ClosedRange<Int>, access: Access = .permitted, _ body: @escaping Body) {
        self.name = name
        self.access = access
        self.arguments = arguments
        self.body = { session, arguments in
            try await body(session, arguments)
            return .goesOn
        }
    }

    init(_ name: String, _ count: Int = 0, access: Access = .permitted, _ body: @escaping Body) {
        self.init(name, count...count, access: access, body)
    }

    /// Creates a command that ends the connection.
    init(ending name: String) {
        self.name = name
        access = .everybody
        arguments = 0...0
        body = { _, _ in .ends }
    }

    /// Creates a command of MPD that this server does not support.
    init(refused name: String, _ error: MPDError) {
        self.name = name
        access = .refused(error)
        arguments = 0...Int.max
        body = { _, _ in throw error }
    }

    /// Throws if the command does not take `count` arguments.
    func check(_ count: Int) throws(MPDError) {
        guard !arguments.contains(count) else { return }
        let problem =
            arguments.count == 1
            ? "wrong number of" : count < arguments.lowerBound ? "too few" : "too many"
        throw MPDError(.argument, "\(problem) arguments for \"\(name)\"")
    }

    func run(_ session: isolated MPDSession, _ arguments: MPDArguments) async throws -> MPDSession.Outcome {
        try await body(session, arguments)
    }

    /// The permission that a client needs, unless ``access`` is `everybody`.
    private var permission: MPDPermissions { Self.permissions[name] ?? .read }

    func isAllowed(for session: isolated MPDSession) -> Bool {
        switch access {
        case .everybody: true
        case .permitted: session.permissions.isSuperset(of: permission)
        case .refused: false
        }
    }

    // MARK: All commands

    static let all: [String: MPDCommand] = Dictionary(
        uniqueKeysWithValues: [
            connectionCommands, playbackCommands, optionCommands, statusCommands, queueCommands, queueEditingCommands,
            databaseCommands, pictureCommands, searchCommands, storedPlaylistCommands, messageCommands, refusedCommands,
        ].joined().map { ($0.name, $0) }
    )

    /// Returns the command with this name. Throws if there is none or the client lacks the permission.
    static func find(_ name: String, for session: isolated MPDSession) throws(MPDError) -> MPDCommand {
        guard let command = all[name] else {
            throw MPDError(.unknown, "unknown command \"\(name)\"", namesCommand: false)
        }
        if case .everybody = command.access { return command }
        guard session.permissions.isSuperset(of: command.permission) else {
            throw MPDError(.permission, "you don't have permission for \"\(name)\"")
        }
        return command
    }

    private static let refusedCommands: [MPDCommand] =
        ["kill", "config"].map {
            MPDCommand(refused: $0, MPDError(.permission, "you don't have permission for \"\($0)\""))
        }
        + ["prio", "prioid"].map {
            MPDCommand(refused: $0, MPDError(.unknown, "priorities are not supported; use move or add with a position"))
        }
        + ["rangeid"].map {
            MPDCommand(refused: $0, MPDError(.unknown, "playing part of a song is not supported; use seek"))
        }
        + ["addtagid", "cleartagid"].map {
            MPDCommand(refused: $0, MPDError(.unknown, "tags come from the files and cannot be set"))
        }
        + ["sticker"].map { MPDCommand(refused: $0, MPDError(.unknown, "sticker database is disabled")) }
        + ["newpartition", "delpartition", "moveoutput"].map {
            MPDCommand(refused: $0, MPDError(.unknown, "the only partition is \"default\""))
        }
        + ["mount", "unmount", "listmounts", "listneighbors", "listfiles", "getfingerprint", "readcomments"].map {
            MPDCommand(refused: $0, MPDError(.unknown, "\"\($0)\" is not supported"))
        }
}
