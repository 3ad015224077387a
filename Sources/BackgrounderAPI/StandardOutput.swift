import Glibc

/// Standard output, which may be a closed pipe or a full disk.
package enum StandardOutput {
    /// Writes all of `text`.
    ///
    /// - Throws: ``OutputError`` where it takes nothing; SIGPIPE must be ignored.
    package static func write(_ text: String) throws(OutputError) {
        var text = text
        let code = text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
        guard code == 0 else { throw OutputError(code: code) }
    }

    /// As the other.
    package static func write(_ text: TextBuffer) throws(OutputError) {
        let code = text.bytes.withUnsafeBytes { write($0) }
        guard code == 0 else { throw OutputError(code: code) }
    }

    /// As the other, for what may be no text.
    package static func write(bytes: [UInt8]) throws(OutputError) {
        let code = bytes.withUnsafeBytes { write($0) }
        guard code == 0 else { throw OutputError(code: code) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(STDOUT_FILENO, rest.baseAddress, rest.count)
            if count < 0, errno != EINTR { return errno }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(max(0, count)))
        }
        return 0
    }
}

/// Standard output took nothing; `code` is an `errno`.
package struct OutputError: Error, Hashable, CustomStringConvertible {
    package var code: Int32

    /// Whether it is a pipe whose reader has left: other programs end quietly then, by SIGPIPE.
    package var isClosedPipe: Bool { code == EPIPE }

    package var description: String { "cannot write to stdout: \(systemMessage(code))" }
}
