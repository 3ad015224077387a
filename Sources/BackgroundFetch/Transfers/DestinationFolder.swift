import BackgrounderAPI
import CLinux
import Glibc

/// An open folder beneath one of the roots; no symbolic link leads out of them. For one thread at a time, which may wait for the disk.
struct DestinationFolder: ~Copyable {
    let descriptor: Int32

    deinit { close(descriptor) }

    /// Opens the folder at `path`; it and what is missing on the way to it are made, 0700.
    ///
    /// - Parameter path: absolute, without `.` and `..`; empty for `/`, as ``splitPath(_:)`` has it.
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
                    reason: code == ELOOP ? "a symbolic link is on the way to it" : systemMessage(code)
                )
            }
            current = next
        }
        descriptor = current
    }

    /// The root is what its owner says, also where it is a link.
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

    /// What has the name; `nil` where nothing has. Links are not followed.
    func entry(_ name: String) -> stat? {
        var attributes = stat()
        return fstatat(descriptor, name, &attributes, AT_SYMLINK_NOFOLLOW) == 0 ? attributes : nil
    }
}

extension FileIdentity {
    init(_ attributes: stat) {
        self.init(device: UInt64(attributes.st_dev), inode: UInt64(attributes.st_ino))
    }
}

extension FileVersion {
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
