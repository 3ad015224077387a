import BackgrounderAPI
import Glibc
import SystemSupport

/// An error that ends the command: one line for stderr (empty to print nothing) and the exit code.
struct CommandFailure: Error, CustomStringConvertible {
    /// The failures that commands tell apart.
    enum Kind {
        /// Nothing accepts connections at the socket.
        case notRunning
        /// The service accepted the connection, but sent no complete reply.
        case lostConnection
        /// The reply did not arrive in time.
        case late
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

    static let late = CommandFailure(
        "the service does not reply; see `backgrounder log`",
        exitCode: 1,
        kind: .late
    )

    /// Returns the failure for a user without a service, who may not use the system's with the run folder `run`.
    static func notRunning(system run: String) -> Self {
        var status = stat()
        // Without `control.group`, the group has no access to the folder.
        let isOpen = stat(run, &status) == 0 && status.st_mode & S_IXGRP != 0
        let group = isOpen ? getgrgid(status.st_gid).map { String(cString: $0.pointee.gr_name) } : nil
        return Self(
            group.map {
                "permission denied: only root and members of the group \($0) may use the system's service; run this with "
                    + "sudo, ask for `adduser USER \($0)`, or start a service of your own with `backgrounder start`"
            }
                ?? "permission denied: only root may use the system's service; run this with sudo, or start a service of "
                + "your own with `backgrounder start`",
            exitCode: 3,
            kind: .notRunning
        )
    }

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
