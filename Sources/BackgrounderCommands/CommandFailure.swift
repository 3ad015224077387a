import BackgrounderAPI

/// Why a command fails: one line for stderr, and the exit code.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    let exitCode: Int32

    init(_ description: String, exitCode: Int32 = 1) {
        self.description = description
        self.exitCode = exitCode
    }

    /// What the service refused.
    init(_ error: WireError) {
        description = error.message + (error.hint.map { "; \($0)" } ?? "")
        exitCode = error.code == .notFound ? 4 : 1
    }

    static let notRunning = CommandFailure(
        "the service is not running; start it with `backgrounder start`",
        exitCode: 3
    )
}
