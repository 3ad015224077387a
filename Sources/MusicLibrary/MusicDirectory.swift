import Glibc
import MediaFiles
import SystemSupport

/// The directory of the music database. It resolves relative paths to files, and rejects paths that lead outside.
///
/// Usable from any thread that may wait for a disk.
package struct MusicDirectory: Hashable, Sendable {
    /// The absolute path, without a trailing slash.
    package let root: String

    /// Creates the directory at `root`, an absolute path.
    package init(_ root: String) {
        self.root = root == "/" ? "" : root.hasSuffix("/") ? String(root.dropLast()) : root
    }

    /// Returns `path` without redundant slashes, or nil if it is absolute or has a component that is `..`, `.` or hidden.
    package static func normalized(_ path: String) -> String? {
        // By bytes, like the system: in Swift, strings of different bytes may be equal.
        guard path.utf8.first != UInt8(ascii: "/"), !path.utf8.contains(0) else { return nil }
        let parts = path.utf8.split(separator: UInt8(ascii: "/"))
        guard !parts.contains(where: isHidden) else { return nil }
        return parts.map { String(Substring($0)) }.joined(separator: "/")
    }

    /// Returns the absolute path of a normalised one.
    package func absolute(_ path: String) -> String { path.isEmpty ? (root.isEmpty ? "/" : root) : "\(root)/\(path)" }

    /// Returns the path relative to this directory, or nil if `absolute` is outside of it.
    package func relative(_ absolute: String) -> String? {
        guard absolute.utf8.starts(with: (root + "/").utf8) else { return nil }
        return Self.normalized(String(Substring(absolute.utf8.dropFirst(root.utf8.count + 1))))
    }

    /// Opens a file that is inside this directory after links are resolved. The check is made on the open file, so the path
    /// cannot be swapped in between.
    func open(_ path: String) throws(MediaError) -> MediaFile {
        guard let path = Self.normalized(path), !path.isEmpty else { throw .noSuchPath(path: path) }
        let absolute = absolute(path)
        let file = try MediaFile(path: absolute)
        guard let root = realPath(self.root.isEmpty ? "/" : self.root), let place = Self.place(of: file.descriptor),
            place.utf8.starts(with: (root == "/" ? root : root + "/").utf8)
        else { throw .noSuchPath(path: absolute) }
        return file
    }

    /// Returns whether a folder is reached without links. The target of a link is either outside or known by its own path.
    func hasFolder(_ path: String) -> Bool {
        guard let root = realPath(absolute("")) else { return false }
        var status = stat()
        guard stat(absolute(path), &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return false }
        if path.isEmpty { return true }
        let expected = (root == "/" ? "" : root) + "/" + path
        return realPath(absolute(path))?.utf8.elementsEqual(expected.utf8) == true
    }

    private static func place(of descriptor: CInt) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink("/proc/self/fd/\(descriptor)", start, Int(PATH_MAX))
            guard count > 0 else { return nil }
            return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}

/// Returns the folder of a path; "" is the music directory itself.
func musicFolder(of path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? ""
}
