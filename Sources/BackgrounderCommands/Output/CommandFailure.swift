import BackgrounderAPI
import SystemSupport

/// An error that ends the command: one line for stderr (empty to print nothing) and the exit code.
struct CommandFailure: Error, CustomStringConvertible {
    /// The failures that commands tell apart.
    enum Kind {
        /// Nothing accepts connections at the socket.
        case notRunning
        /// The service accepted the connection, but sent no complete reply.
        case lostConnection
        case other
    }

    let description: String
    let exitCode: Int32
    let kind: Kind

    init(_ description: String, exitCode: Int32 = 1) {
        self.init(description, exitCode: exitCode, kind: .other)
    }

    private init(_ description: String, exitCode: Int32, kind: Kind) {
        self.description = description
        self.exitCode = exitCode
        self.kind = kind
    }

    /// Creates a failure from an error reply of the service.
    init(_ error: WireError) {
        self.init(error.message + (error.hint.map { "; \($0)" } ?? ""), exitCode: error.code == .notFound ? 4 : 1)
    }

    /// Creates a failure from a failed write to stdout. A closed pipe is not reported: its reader had enough.
    init(_ error: OutputError) {
        self.init(error.isClosedPipe ? "" : error.description)
    }

    static let notRunning = CommandFailure(
        "the service is not running; start it with `backgrounder start`",
        exitCode: 3,
        kind: .notRunning
    )

    /// Returns the failure of a request to which the service sent no complete reply.
    static func lostConnection(_ reason: String? = nil) -> Self {
        let reason = reason.map { ": \($0)" } ?? ""
        return Self(
            "lost the connection to the service\(reason); see `backgrounder log`",
            exitCode: 3,
            kind: .lostConnection
        )
    }
}
