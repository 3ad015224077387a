import Glibc

// Paths are handled as bytes, as the system does: to Swift, a slash and a following accent are one character.

private let slash = UInt8(ascii: "/")

/// Returns the folder of a path, without its trailing slash, and the name in it. The folder is empty for a file in `/` and for a bare
/// name.
package func splitPath(_ path: String) -> (folder: String, name: Substring) {
    guard let last = path.utf8.lastIndex(of: slash) else { return ("", path[...]) }
    return (String(path[..<last]), path[path.utf8.index(after: last)...])
}

/// Returns the components of a path, which is passed as UTF-8.
package func pathParts(_ path: some Collection<UInt8>) -> [String] {
    path.split(separator: slash).map { String(decoding: $0, as: UTF8.self) }
}

/// Returns whether `path` is `folder` or lies below it; both are absolute, without `.`, `..` and double slashes.
package func isPath(_ path: String, in folder: String) -> Bool {
    guard path.utf8.starts(with: folder.utf8) else { return false }
    return path.utf8.count == folder.utf8.count || folder.utf8.last == slash
        || path.utf8.dropFirst(folder.utf8.count).first == slash
}

/// Returns `path` with all links resolved, or `nil` if it does not exist. Waits for the disk.
package func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
}

extension String {
    /// Whether its first byte is a slash.
    package var isAbsolutePath: Bool { utf8.first == slash }
}
