import Foundation

/// A child process of a test. It is killed at the latest when the last reference is released.
package final class ChildProcess: Sendable {
    private let process: Process
    package let pid: Int32

    /// Starts the program at `path` and discards its output.
    package init(_ path: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        pid = process.processIdentifier
    }

    deinit { end() }

    package func send(_ signal: Int32) {
        if process.isRunning { kill(pid, signal) }
    }

    /// Kills the process and waits for its end.
    package func end() {
        guard process.isRunning else { return }
        kill(pid, SIGKILL)
        process.waitUntilExit()
    }
}
