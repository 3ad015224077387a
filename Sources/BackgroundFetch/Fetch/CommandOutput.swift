import CLinux
import FoundationEssentials
import Glibc

/// The two pipes that a command prints into.
struct CommandOutput: Sendable {
    struct Printed: Sendable {
        /// Of stdout.
        var content = Data()
        /// Whether there was more than is taken.
        var isTooMuch = false
        /// The last line of stderr that says something.
        var lastError = ""
    }

    private let standard: (read: CInt, write: CInt)
    private let errors: (read: CInt, write: CInt)
    /// Wakes the reader once the command is over.
    private let overEvent: CInt
    private let limit: Int
    private static let errorLimit = 4096  // judgement: the last lines are the ones that tell why
    /// judgement: pieces that are still taken then; a pipe holds no more, and strangers may go on printing
    private static let lastPieces = 16

    /// - Parameter limit: bytes of stdout.
    init?(limit: Int) {
        guard let standard = Self.pipe() else { return nil }
        guard let errors = Self.pipe() else {
            for descriptor in [standard.read, standard.write] { close(descriptor) }
            return nil
        }
        overEvent = eventfd(0, CInt(EFD_CLOEXEC))
        guard overEvent >= 0 else {
            for descriptor in [standard.read, standard.write, errors.read, errors.write] { close(descriptor) }
            return nil
        }
        (self.standard, self.errors, self.limit) = (standard, errors, limit)
    }

    var writeEnds: (stdout: CInt, stderr: CInt) { (standard.write, errors.write) }

    /// Once the command has them; without it no end would come.
    func closeWriteEnds() {
        close(standard.write)
        close(errors.write)
    }

    /// Once nobody reads any more.
    func closeReadEnds() {
        for descriptor in [standard.read, errors.read, overEvent] { close(descriptor) }
    }

    /// The command is over: the reader takes what the pipes hold, and waits for no more, whoever has their other ends.
    func commandIsOver() { eventfd_write(overEvent, 1) }

    /// Takes what comes until both ends are closed, or the command is over; blocks.
    ///
    /// - Parameter onTooMuch: called once, to end what prints; what comes after it is let go.
    func read(onTooMuch: () -> Void) -> Printed {
        var (printed, errorText) = (Printed(), [UInt8]())
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var waiting = [standard.read, errors.read, overEvent].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var (isOver, pieces) = (false, Self.lastPieces)
        while waiting[..<2].contains(where: { $0.fd >= 0 }), pieces > 0 {
            let ready = poll(&waiting, nfds_t(waiting.count), isOver ? 0 : -1)
            if isOver { pieces -= 1 }
            if isOver, ready == 0 { break }
            guard ready > 0 else { continue }
            for index in 0..<2 where waiting[index].fd >= 0 && waiting[index].revents != 0 {
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
            if waiting[2].revents != 0 {
                isOver = true
                waiting[2].fd = -1
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
