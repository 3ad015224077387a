import CLinux
package import FoundationEssentials
import Glibc
import SystemSupport

/// The pipes for the standard output and standard error of a command.
package struct CommandOutput: Sendable {
    /// The output of a command.
    package struct Printed: Sendable {
        /// The bytes of stdout, up to the limit.
        package var content = Data()
        /// Whether stdout exceeded the limit.
        package var isTooMuch = false
        /// The last line of stderr that is not blank.
        package var lastError = ""
    }

    private let standard: (read: CInt, write: CInt)
    private let errors: (read: CInt, write: CInt)
    /// Wakes the reader when the command has ended.
    private let over: WakeDescriptor
    private let limit: Int
    /// Bytes of stderr to keep. Tuned: the last lines usually state the reason.
    private static let errorLimit = 4096
    /// The maximum number of reads after the command has ended. Tuned: a pipe holds no more, and other processes with
    /// its write end may continue to print.
    private static let lastPieces = 16

    /// Creates the pipes; `nil` if that fails.
    ///
    /// - Parameter limit: the maximum number of bytes of stdout.
    package init?(limit: Int) {
        guard let standard = Self.pipe() else { return nil }
        guard let errors = Self.pipe() else {
            for descriptor in [standard.read, standard.write] { close(descriptor) }
            return nil
        }
        guard let over = try? WakeDescriptor() else {
            for descriptor in [standard.read, standard.write, errors.read, errors.write] { close(descriptor) }
            return nil
        }
        (self.standard, self.errors, self.over, self.limit) = (standard, errors, over, limit)
    }

    /// The descriptors to pass to the command.
    package var writeEnds: (stdout: CInt, stderr: CInt) { (standard.write, errors.write) }

    /// Closes the write ends of this process. Call this when the command has them: otherwise the reader never sees the
    /// end.
    package func closeWriteEnds() {
        close(standard.write)
        close(errors.write)
    }

    /// Closes the read ends. Call this after reading.
    package func closeReadEnds() {
        for descriptor in [standard.read, errors.read] { close(descriptor) }
    }

    /// Tells the reader that the command has ended: it reads the contents of the pipes and returns, even if another
    /// process still has their write ends.
    package func commandIsOver() { over.signal() }

    /// Reads until both pipes are closed or the command has ended. Blocks the calling thread.
    ///
    /// - Parameter onTooMuch: called once if stdout exceeds the limit; it should kill the command. The rest is
    ///   discarded.
    package func read(onTooMuch: () -> Void) -> Printed {
        var (printed, errorText) = (Printed(), [UInt8]())
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var waiting = [standard.read, errors.read].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var (isOver, pieces) = (false, Self.lastPieces)
        while waiting.contains(where: { $0.fd >= 0 }), pieces > 0 {
            let isSignalled = over.wait(for: &waiting, until: isOver ? .now : nil)
            if isOver { pieces -= 1 }
            if isOver, !waiting.contains(where: { $0.revents != 0 }) { break }
            if isSignalled { isOver = true }
            for index in waiting.indices where waiting[index].fd >= 0 && waiting[index].revents != 0 {
                let count = Glibc.read(waiting[index].fd, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    waiting[index].fd = -1
                    continue
                }
                if index == 1 {
                    errorText = (errorText + buffer[..<count]).suffix(Self.errorLimit)
                } else if printed.content.count + count <= limit, !printed.isTooMuch {
                    printed.content.append(contentsOf: buffer[..<count])
                } else if !printed.isTooMuch {
                    printed.isTooMuch = true
                    onTooMuch()
                }
            }
        }
        let lines = String(decoding: errorText, as: UTF8.self).split(whereSeparator: \.isNewline)
        printed.lastError = lines.last { line in line.contains { !$0.isWhitespace } }.map(String.init) ?? ""
        return printed
    }

    private static func pipe() -> (read: CInt, write: CInt)? {
        var ends: [CInt] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else { return nil }
        return (ends[0], ends[1])
    }
}
