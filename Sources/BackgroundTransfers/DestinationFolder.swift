import CLinux
import Glibc
import SystemSupport

/// An open folder within one of the transfer folders (roots). Symbolic links below the root are not followed.
///
/// Its calls block on disk I/O.
struct DestinationFolder: ~Copyable {
    let descriptor: Int32

    deinit { close(descriptor) }

    /// Opens the folder at `path`, and creates it and its missing parents with mode 0700.
    ///
    /// - Parameter path: an absolute path without `.` and `..`; empty for `/`, as in the result of ``splitPath(_:)``.
    /// - Throws: ``TransferError`` if the path is outside the roots or cannot be opened.
    init(_ path: String, roots: [String]) throws(TransferError) {
        let path = path.isEmpty ? "/" : path
        let fitting = roots.filter { isPath(path, in: $0) }
        guard let root = fitting.max(by: { $0.utf8.count < $1.utf8.count }) else {
            throw .outsideRoots(path, roots: roots)
        }
        var current = try Self.openRoot(root)
        for part in pathParts(path.utf8.dropFirst(root.utf8.count)) {
            mkdirat(current, part, 0o700)
            let next = clinux_open_beneath(current, part, UInt64(O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0)
            let code = errno
            close(current)
            guard next >= 0 else {
                throw .notAFolder(
                    path,
                    reason: code == ELOOP ? "its path contains a symbolic link" : systemMessage(code)
                )
            }
            current = next
        }
        descriptor = current
    }

    /// Opens a root. Unlike the folders below it, it may be a symbolic link, because the user configured it.
    private static func openRoot(_ path: String) throws(TransferError) -> Int32 {
        var made = ""
        for part in pathParts(path.utf8) {
            made += "/" + part
            mkdir(made, 0o700)
        }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .notAFolder(path, reason: systemMessage(errno)) }
        return descriptor
    }

    /// Returns the attributes of the entry `name`; `nil` if there is none. Symbolic links are not followed.
    func entry(_ name: String) -> stat? {
        var attributes = stat()
        return fstatat(descriptor, name, &attributes, AT_SYMLINK_NOFOLLOW) == 0 ? attributes : nil
    }
}

extension FileIdentity {
    /// Creates the identity of a file from its attributes.
    init(_ attributes: stat) {
        self.init(device: UInt64(attributes.st_dev), inode: UInt64(attributes.st_ino))
    }
}

extension FileVersion {
    /// Creates the version of a file from its attributes.
    init(_ attributes: stat) {
        self.init(
            identity: FileIdentity(attributes),
            size: Int64(attributes.st_size),
            modified: Int64(attributes.st_mtim.tv_sec) * 1_000_000_000 + Int64(attributes.st_mtim.tv_nsec)
        )
    }
}

extension stat {
    var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
}
