import BackgrounderAPI
import CLinux
import Glibc
import NIOCore
import SystemSupport
import WebSupport

/// The part file of a download, in the folder of its destination. Its work runs on `executor`, which may block.
///
/// Its bytes are all from one version of the file on the server. Call ``reset()`` before writing another version.
actor PartFile {
    /// Tuned: 0.2 s in all, because exec follows fork within that time.
    private static let lockTries = 20
    /// Microseconds.
    private static let lockPause: UInt32 = 10_000

    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let name: String
    private let folderPath: String
    private let roots: [String]
    private let reserve: Int64
    private var file: Int32 = -1
    private var offset: Int64 = 0
    /// Whether the length is unknown, so that no space could be reserved.
    private var isOpenEnded = false

    /// The result of ``open(_:boot:)``.
    struct Opening: Sendable {
        var identity: FileIdentity
        /// The number of valid bytes in the file.
        var offset: Int64
    }

    init(_ record: TransferRecord, configuration: TransferConfiguration, executor: QueueExecutor) {
        name = ".backgrounder-\(record.transfer.id).part"
        folderPath = record.folder
        roots = configuration.roots
        reserve = configuration.limits.reserve
        self.executor = executor
    }

    deinit { if file >= 0 { close(file) } }

    /// Opens the part file that the record knows, or creates a new one.
    ///
    /// - Parameter boot: the current boot. Of bytes that were written in another boot, only the synced ones count.
    func open(_ record: TransferRecord, boot: String) throws(TransferFault) -> Opening {
        let folder = try folder()
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        if let known = record.detail.part {
            file = openat(folder.descriptor, name, flags)
            var attributes = stat()
            if file >= 0, fstat(file, &attributes) == 0, attributes.isRegularFile, attributes.st_nlink == 1,
                FileIdentity(attributes) == known
            {
                try lock(file)
                let size = Int64(attributes.st_size)
                offset = record.detail.boot == boot ? size : min(size, record.detail.durable)
                if offset > record.transfer.total ?? .max { offset = 0 }
                try truncate()
                return Opening(identity: known, offset: offset)
            }
            if file >= 0 { close(file) }
            file = -1
        }
        // A leftover was created by a service that was killed before it saved the fact, or another service is writing
        // to it.
        let leftover = openat(folder.descriptor, name, flags)
        if leftover >= 0 {
            defer { close(leftover) }
            try lock(leftover)
        }
        unlinkat(folder.descriptor, name, 0)
        file = openat(folder.descriptor, name, flags | O_CREAT | O_EXCL, 0o600)
        guard file >= 0 else { throw Self.fault("cannot create \(folderPath)/\(name)", errno) }
        var attributes = stat()
        guard flock(file, LOCK_EX | LOCK_NB) == 0, fstat(file, &attributes) == 0 else {
            throw Self.fault("cannot use \(folderPath)/\(name)", errno)
        }
        offset = 0
        return Opening(identity: FileIdentity(attributes), offset: 0)
    }

    /// Locks the file against other services.
    ///
    /// Between fork and exec, a child process holds copies of this process's descriptors, and thus its locks. Such a
    /// lock is free again a moment later, so the call retries.
    private func lock(_ file: Int32) throws(TransferFault) {
        for _ in 0..<Self.lockTries {
            if flock(file, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw Self.fault("cannot lock \(name)", errno) }
            usleep(Self.lockPause)
        }
        throw .passing("another service is writing to \(name)")
    }

    /// Empties the file for another version.
    func reset() throws(TransferFault) {
        offset = 0
        try truncate()
    }

    /// Reserves disk space for `total` bytes. If that is unknown, each ``write(_:)`` checks the free space.
    ///
    /// - Throws: ``TransferFault/disk(_:)`` if the disk is full.
    func makeRoom(for total: Int64?) throws(TransferFault) {
        isOpenEnded = total == nil
        try checkRoom(for: total ?? offset)
        guard let total, clinux_reserve(file, total) != 0, errno == ENOSPC || errno == EDQUOT else { return }
        throw .disk("the disk is full: \(systemMessage(errno))")
    }

    /// Checks that a file of `total` bytes leaves the reserve free.
    ///
    /// - Throws: ``TransferFault/disk(_:)`` if it does not.
    private func checkRoom(for total: Int64) throws(TransferFault) {
        var space = statvfs()
        var attributes = stat()
        guard fstatvfs(file, &space) == 0, fstat(file, &attributes) == 0 else {
            throw Self.fault("cannot check the free space", errno)
        }
        let block = Int64(clamping: space.f_frsize)
        let free = Int64(clamping: space.f_bavail).multipliedReportingOverflow(by: block).partialValue
        let whole = Int64(clamping: space.f_blocks).multipliedReportingOverflow(by: block).partialValue
        let missing = max(0, total - Int64(attributes.st_blocks) * 512)
        let reserve = min(reserve, whole / 20)
        guard free - reserve >= missing else {
            throw .disk(
                "the disk is full: \(missing) more bytes are needed, \(free) are free and \(reserve) of these are reserved"
            )
        }
    }

    /// Appends `buffer`.
    ///
    /// - Returns: the new number of bytes.
    func write(_ buffer: ByteBuffer) throws(TransferFault) -> Int64 {
        if isOpenEnded { try checkRoom(for: offset + Int64(buffer.readableBytes)) }
        var done = 0
        while done < buffer.readableBytes {
            let count = buffer.withUnsafeReadableBytes {
                pwrite(file, $0.baseAddress.map { $0 + done }, $0.count - done, off_t(offset))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.fault("cannot write \(name)", count == 0 ? ENOSPC : errno) }
            done += count
            offset += Int64(count)
        }
        return offset
    }

    /// Syncs the written bytes to the disk.
    func sync() throws(TransferFault) {
        guard fdatasync(file) == 0 else { throw Self.fault("cannot sync \(name)", errno) }
    }

    /// Returns the SHA-256 of the file, read from the disk, in lower-case hexadecimal.
    ///
    /// - Throws: ``TransferFault``, or `CancellationError`.
    func digest() throws -> String {
        let hash = SHA256()
        let size = 1 << 20
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { buffer.deallocate() }
        var position: Int64 = 0
        while true {
            try Task.checkCancellation()
            let count = pread(file, buffer.baseAddress, size, off_t(position))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.fault("cannot read \(name)", errno) }
            if count == 0 { return SHA256.hexadecimal(hash.finish()) }
            hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            position += Int64(count)
        }
    }

    /// Syncs the file and atomically gives it its final name.
    ///
    /// - Returns: false if another file has the name and `overwrites` is false.
    func install(as final: String, overwrites: Bool) throws(TransferFault) -> Bool {
        let folder = try folder()
        guard fsync(file) == 0 else { throw Self.fault("cannot sync \(name)", errno) }
        if overwrites {
            guard renameat(folder.descriptor, name, folder.descriptor, final) == 0 else {
                throw Self.fault("cannot rename to \(final)", errno)
            }
        } else if clinux_rename_new(folder.descriptor, name, final) != 0 {
            if errno == EEXIST { return false }
            // The file system does not support RENAME_NOREPLACE.
            guard errno == EINVAL || errno == ENOSYS else { throw Self.fault("cannot rename to \(final)", errno) }
            guard linkat(folder.descriptor, name, folder.descriptor, final, 0) == 0 else {
                if errno == EEXIST { return false }
                throw Self.fault("cannot rename to \(final)", errno)
            }
            unlinkat(folder.descriptor, name, 0)
        }
        guard fsync(folder.descriptor) == 0 || errno == EINVAL else {
            throw Self.fault("cannot sync the folder", errno)
        }
        return true
    }

    /// Returns whether the file already has its final name, because the service was killed before it saved the fact.
    func isInstalled(as final: String, _ identity: FileIdentity) throws(TransferFault) -> Bool {
        let folder = try folder()
        guard let attributes = folder.entry(final), FileIdentity(attributes) == identity else { return false }
        // A link(2) in place of a rename may not have been followed by its unlink(2).
        unlinkat(folder.descriptor, name, 0)
        fsync(folder.descriptor)
        return true
    }

    /// Removes the part file if it is the one with `identity`.
    func discard(_ identity: FileIdentity?) {
        if file >= 0 { close(file) }
        file = -1
        guard let folder = try? folder(), let attributes = folder.entry(name), FileIdentity(attributes) == identity
        else {
            return
        }
        unlinkat(folder.descriptor, name, 0)
    }

    private func folder() throws(TransferFault) -> DestinationFolder {
        do {
            return try DestinationFolder(folderPath, roots: roots)
        } catch {
            throw .permanent("\(error)")
        }
    }

    private func truncate() throws(TransferFault) {
        guard ftruncate(file, off_t(offset)) == 0 else { throw Self.fault("cannot truncate \(name)", errno) }
    }

    /// Classifies a failed system call by its `errno`.
    private static func fault(_ what: String, _ code: Int32) -> TransferFault {
        let reason = "\(what): \(systemMessage(code))"
        return switch code {
        case ENOSPC, EDQUOT: .disk(reason)
        case EACCES, EPERM, EROFS, EISDIR, ENOTDIR, ENAMETOOLONG, EFBIG: .permanent(reason)
        default: .passing(reason)
        }
    }
}

extension TransferRecord {
    /// The folder of the destination; empty for `/`.
    var folder: String { splitPath(transfer.destination).folder }

    /// The file name of the destination.
    var name: String { String(splitPath(transfer.destination).name) }
}
