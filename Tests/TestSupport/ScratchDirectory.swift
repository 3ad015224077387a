import Foundation

/// A temporary directory with a path that is short enough for sockets.
///
/// It is removed when the last reference is released.
package final class ScratchDirectory: Sendable {
    package let path: String

    package init() throws {
        var template = Array("/tmp/backgrounder-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the absolute path of `name` in the directory.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes `content` and returns its path.
    @discardableResult
    package func write(_ content: some Sequence<UInt8>, to name: String) throws -> String {
        try Data(content).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    @discardableResult
    package func write(_ content: String, to name: String) throws -> String {
        try write(content.utf8, to: name)
    }

    /// Writes a shell script that can be run as a program, and returns its path.
    ///
    /// Another process writes it: a program that another test starts meanwhile would inherit a descriptor of this one, and
    /// a file that is open for writing cannot be run (ETXTBSY).
    package func script(_ commands: String, to name: String) async throws -> String {
        let write = #"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod 755 "$2""#
        try await Tool.run("sh", "-c", write, "sh", commands, file(name))
        return file(name)
    }
}
