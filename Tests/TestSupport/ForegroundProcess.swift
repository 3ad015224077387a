package import Foundation
import Synchronization

/// A child process with given descriptors. It is killed at the latest when the last reference is released.
///
/// It is reaped as soon as it ends and never signalled afterwards.
package final class ForegroundProcess: Sendable {
    package let pid: pid_t
    private let life: Life

    private final class Life: Sendable {
        let status = Mutex<Int32?>(nil)
        let ended = Signal()
    }

    /// - Parameter descriptors: Our descriptors, which stay open, by their numbers in the child.
    package init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        descriptors: [Int32: Int32] = [:]
    ) throws {
        let pid = try spawn(path, arguments, environment: environment, descriptors: descriptors)
        let life = Life()
        (self.pid, self.life) = (pid, life)
        Thread.detachNewThread {
            var information = siginfo_t()
            // The id stays valid until the process is reaped. The lock prevents a signal after that.
            while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
            life.status.withLock { status in
                var value: Int32 = 0
                waitpid(pid, &value, 0)
                status = value
            }
            life.ended.post()
        }
    }

    deinit { kill() }

    package func kill(_ signal: Int32 = SIGKILL) {
        life.status.withLock { status in
            if status == nil { _ = Foundation.kill(pid, signal) }
        }
    }

    /// Waits for the end of the process.
    ///
    /// - Returns: The exit code, or 128 + the signal that ended it.
    @discardableResult
    package func waitForEnd(within seconds: Double = 60) async throws -> Int32 {
        let status = try await life.ended.wait(for: "end of process \(pid)", within: seconds) {
            life.status.withLock { $0 }
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    }
}
