import Glibc

/// Copies the output of a command from a pipe to a file up to a limit and discards the rest, so that the command never waits and the
/// disk never fills.
struct OutputCopier {
    let readEnd: CInt
    private let file: CInt
    private var room: Int
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Opens the output file.
    ///
    /// - Parameter readEnd: the non-blocking read end of the pipe.
    init(_ output: CommandOrder.OutputFile, readEnd: CInt) {
        self.readEnd = readEnd
        room = output.limit
        file = open(output.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    }

    /// Copies the available output, at most `pieces` reads.
    ///
    /// - Returns: whether more may follow.
    mutating func copy(pieces: Int = 16) -> Bool {
        for _ in 0..<pieces {
            let count = read(readEnd, &buffer, buffer.count)
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            guard count > 0 else { return false }
            append(count)
        }
        return true
    }

    private mutating func append(_ count: Int) {
        var rest = buffer[..<min(count, room)]
        room -= rest.count
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else {
                // The disk is full: later output would follow a gap.
                room = 0
                return
            }
            rest = rest.dropFirst(written)
        }
    }
}
