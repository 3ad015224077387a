import Glibc
import SystemSupport

/// A pipe from a child process, which has the write end.
final class Pipe {
    enum Line {
        case line(String)
        /// The write end was closed before a line arrived.
        case end
        case timeout
    }

    let readEnd: Int32
    private(set) var writeEnd: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw CommandFailure("cannot create a pipe: \(systemMessage(errno))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        closeWriteEnd()
    }

    func closeWriteEnd() {
        if writeEnd >= 0 { close(writeEnd) }
        writeEnd = -1
    }

    /// Waits for one line, for at most `timeout` seconds in total.
    func readLine(timeout: Int32) -> Line {
        var bytes: [UInt8] = []
        let deadline = ContinuousClock.now + .seconds(Int(timeout))
        while true {
            let left = (deadline - .now).components
            var descriptor = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
            guard left.seconds >= 0, poll(&descriptor, 1, Int32(left.seconds) * 1000 + 1000) > 0 else {
                return .timeout
            }
            var byte: UInt8 = 0
            guard read(readEnd, &byte, 1) == 1 else { return .end }
            if byte == UInt8(ascii: "\n") { return .line(String(decoding: bytes, as: UTF8.self)) }
            bytes.append(byte)
        }
    }

    /// Reads until the write end is closed, at most 64 KiB.
    func readAll() -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count < 65_536 {
            let count = read(readEnd, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
