import Foundation

/// A program that a test runs; it is killed, by its id, with the last reference at the latest.
package final class ChildProcess: Sendable {
    private let process: Process
    package let pid: Int32

    /// Starts the program at `path`, whose output goes nowhere.
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

    /// Kills it and returns when it is gone.
    package func end() {
        guard process.isRunning else { return }
        kill(pid, SIGKILL)
        process.waitUntilExit()
    }
}
