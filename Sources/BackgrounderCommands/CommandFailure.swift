import BackgrounderAPI

/// An error that ends the command: one line for stderr (empty to print nothing) and the exit code.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    let exitCode: Int32

    init(_ description: String, exitCode: Int32 = 1) {
        self.description = description
        self.exitCode = exitCode
    }

    /// Creates a failure from an error reply of the service.
    init(_ error: WireError) {
        description = error.message + (error.hint.map { "; \($0)" } ?? "")
        exitCode = error.code == .notFound ? 4 : 1
    }

    /// Creates a failure from a failed write to stdout. A closed pipe is not reported: its reader had enough.
    init(_ error: BackgrounderAPI.OutputError) {
        self.init(error.isClosedPipe ? "" : error.description)
    }

    static let notRunning = CommandFailure(
        "the service is not running; start it with `backgrounder start`",
        exitCode: 3
    )
}
