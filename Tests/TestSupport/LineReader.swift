import Foundation
import Synchronization

/// Collects the lines of a descriptor until its end, on a thread of its own.
package final class LineReader: Sendable {
    private struct State {
        var lines: [String] = []
        var isAtEnd = false
    }

    private let state = Mutex(State())
    private let changed = Signal()
    private let descriptor: Int32

    /// Reads `descriptor` to its end and closes it. A socket ends at the latest when the last reference is released.
    package init(_ descriptor: Int32) {
        // The thread owns `descriptor` and `deinit` the duplicate, so that neither uses a number that the other closed.
        self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        Thread.detachNewThread { [weak self] in
            defer { close(descriptor) }
            var line = Data()
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
                var lines: [String] = []
                for part in buffer[..<count].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                    if part.startIndex > 0 {
                        lines.append(String(decoding: line, as: UTF8.self))
                        line.removeAll()
                    }
                    line.append(contentsOf: part)
                }
                self?.append(lines)
            }
            self?.end()
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// The complete lines so far.
    package var lines: [String] { state.withLock { $0.lines } }

    /// Returns what `look` finds in the lines so far; throws if the deadline passes first.
    @discardableResult
    package func wait<Value>(
        for what: String,
        within seconds: Double = 60,
        _ look: ([String], _ isAtEnd: Bool) throws -> Value?
    ) async throws -> Value {
        do {
            return try await changed.wait(for: what, within: seconds) {
                let state = state.withLock { $0 }
                return try look(state.lines, state.isAtEnd)
            }
        } catch var error as DeadlinePassed {
            error.lastLine = lines.last
            throw error
        }
    }

    private func append(_ lines: [String]) {
        state.withLock { $0.lines += lines }
        changed.post()
    }

    private func end() {
        state.withLock { $0.isAtEnd = true }
        changed.post()
    }
}
