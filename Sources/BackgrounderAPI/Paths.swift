// Paths by their bytes, as the system reads them: what it calls a slash may be one character with an accent behind it.

private let slash = UInt8(ascii: "/")

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
