import BackgrounderAPI

/// Why a command fails: one line for stderr, empty for none, and the exit code.
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

    /// What stdout did not take. The reader of a pipe leaves when it has enough, which is nothing to report.
    init(_ error: BackgrounderAPI.OutputError) {
        self.init(error.isClosedPipe ? "" : error.description)
    }

    static let notRunning = CommandFailure(
        "the service is not running; start it with `backgrounder start`",
        exitCode: 3
    )
}
