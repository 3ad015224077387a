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
            return .continues
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
    var permission: MPDPermissions { Self.permissions[name] ?? .read }

    func isAllowed(for session: isolated MPDSession) -> Bool {
        switch access {
        case .everybody: true
        case .permitted: session.permissions.isSuperset(of: permission)
        case .refused: false
        }
    }
}
