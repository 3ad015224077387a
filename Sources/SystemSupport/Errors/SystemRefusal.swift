import Glibc

/// The error for a refused system call: its `errno`.
package struct SystemRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    package var code: Int32

    /// Creates the error for an `errno`.
    init(code: Int32) { self.code = code }

    package var description: String { systemMessage(code) }
}

/// Returns the operating system's text for `code` (an `errno`). Any thread.
package func systemMessage(_ code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        guard let start = buffer.baseAddress, strerror_r(code, start, buffer.count) == 0 else { return "error \(code)" }
        return String(cString: start)
    }
}
