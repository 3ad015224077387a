import Glibc

/// Standard output, which may be a closed pipe or a full disk.
package enum StandardOutput {
    /// Writes all of `text`.
    ///
    /// - Throws: ``OutputError`` if stdout cannot be written. SIGPIPE must be ignored.
    package static func write(_ text: String) throws(OutputError) {
        var text = text
        let code = text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
        guard code == 0 else { throw OutputError(code: code) }
    }

    /// Writes all of `text`; see ``write(_:)``.
    package static func write(_ text: TextBuffer) throws(OutputError) {
        let code = text.bytes.withUnsafeBytes { write($0) }
        guard code == 0 else { throw OutputError(code: code) }
    }

    /// Writes all of `bytes`, which need not be text.
    ///
    /// - Throws: ``OutputError``.
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

/// The error for standard output that cannot be written; `code` is an `errno`.
package struct OutputError: Error, Hashable, CustomStringConvertible {
    package var code: Int32

    /// Whether stdout is a pipe without a reader: other programs end silently in this case, by SIGPIPE.
    package var isClosedPipe: Bool { code == EPIPE }

    package var description: String { "cannot write to stdout: \(systemMessage(code))" }
}
