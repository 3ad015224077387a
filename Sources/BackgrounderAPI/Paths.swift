// Paths by their bytes, as the system reads them: what it calls a slash may be one character with an accent behind it.

private let slash = UInt8(ascii: "/")

/// The folder of a path, without its slash, and the name in it; the folder is empty for what lies in `/`, and for a name alone.
package func splitPath(_ path: String) -> (folder: String, name: Substring) {
    guard let last = path.utf8.lastIndex(of: slash) else { return ("", path[...]) }
    return (String(path[..<last]), path[path.utf8.index(after: last)...])
}

/// What stands between the slashes of a path, which is given as UTF-8.
package func pathParts(_ path: some Collection<UInt8>) -> [String] {
    path.split(separator: slash).map { String(decoding: $0, as: UTF8.self) }
}

/// Whether `path` is `folder` or lies beneath it; both are absolute, without `.`, `..` and doubled slashes.
package func isPath(_ path: String, in folder: String) -> Bool {
    guard path.utf8.starts(with: folder.utf8) else { return false }
    return path.utf8.count == folder.utf8.count || folder.utf8.last == slash
        || path.utf8.dropFirst(folder.utf8.count).first == slash
}

extension String {
    /// Whether its first byte is a slash.
    package var isAbsolutePath: Bool { utf8.first == slash }
}
