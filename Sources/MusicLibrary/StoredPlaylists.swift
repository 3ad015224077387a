import BackgrounderAPI
package import FoundationEssentials
import Glibc
import MediaFiles
import Playlists
import SystemSupport

/// The stored playlists of MPD's clients: NAME.m3u at the top of the music directory. Works on one at a time.
package actor StoredPlaylists {
    private let executor = QueueExecutor("backgrounder.audio.playlists")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let directory: MusicDirectory

    /// Creates the store of the playlists in `directory`.
    package init(_ directory: MusicDirectory) { self.directory = directory }

    /// The reason why an operation on a playlist failed.
    package enum Failure: Error, Hashable, Sendable {
        case invalidName(String)
        case noSuchPlaylist(String)
        case exists(String)
        /// A file operation failed; `reason` is the text of the system or of the store.
        case failed(path: String, reason: String)
    }

    private static let extent = ".m3u"

    /// Returns the names, without extension and in natural order, with the times of their last changes.
    package func all() -> [(name: String, modified: Date)] {
        guard let stream = opendir(directory.absolute("")) else { return [] }
        defer { closedir(stream) }
        var found: [(name: String, modified: Date)] = []
        while let entry = readdir(stream) {
            guard let file = entryName(entry), file.hasSuffix(Self.extent), Self.isValid(String(file.dropLast(4)))
            else { continue }
            var status = stat()
            guard fstatat(dirfd(stream), file, &status, 0) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            let seconds = Double(FileSignature(status).modified) / 1e9
            found.append((String(file.dropLast(4)), Date(timeIntervalSince1970: seconds)))
        }
        return found.sorted { NaturalName($0.name) < NaturalName($1.name) }
    }

    /// Returns the locations in a playlist as they are written: absolute paths, paths in the music directory, addresses.
    package func locations(_ name: String) throws(Failure) -> [String] {
        let file = try open(name)
        guard file.size <= PlaylistFile.sizeLimit else { throw Self.tooLarge(file.path) }
        return PlaylistFile.locations(inM3U: file.bytes(at: 0, count: file.size))
    }

    private func open(_ name: String) throws(Failure) -> MediaFile {
        guard Self.isValid(name) else { throw .invalidName(name) }
        do throws(MediaError) {
            return try directory.open(name + Self.extent)
        } catch {
            throw .noSuchPlaylist(name)
        }
    }

    /// Writes a playlist atomically: its content is on the disk before it gets its name.
    ///
    /// - Parameter replacing: whether to replace an existing playlist, which is an error otherwise.
    package func save(_ name: String, _ lines: [String], replacing: Bool = false) throws(Failure) {
        guard Self.isValid(name) else { throw .invalidName(name) }
        let path = directory.absolute(name + Self.extent)
        if !replacing, access(path, F_OK) == 0 { throw .exists(name) }
        let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
        // Do not write a file that would be too large to read.
        guard bytes.count <= PlaylistFile.sizeLimit else { throw Self.tooLarge(path) }
        let draft = directory.absolute(".\(UInt64.random(in: 0 ... .max)).draft")
        do throws(Failure) {
            try Self.write(bytes, to: draft)
            // Two clients may save the same name at the same time: link(2) fails if the name exists. A file system without
            // hard links gets its file by renaming.
            if !replacing, link(draft, path) == 0 {
                unlink(draft)
            } else if !replacing, errno == EEXIST {
                throw .exists(name)
            } else if Glibc.rename(draft, path) != 0 {
                throw .failed(path: path, reason: systemMessage(errno))
            }
        } catch {
            unlink(draft)
            throw error
        }
    }

    /// Renames a playlist; the new name must be free. A kill in between leaves the file with both names.
    package func rename(_ name: String, to new: String) throws(Failure) {
        _ = try open(name)
        guard Self.isValid(new) else { throw .invalidName(new) }
        let (old, path) = (directory.absolute(name + Self.extent), directory.absolute(new + Self.extent))
        // link(2) does not replace an existing file, as rename(2) would.
        if link(old, path) == 0 {
            unlink(old)
            return
        }
        var code = errno
        // A file system without hard links.
        if code == EPERM || code == EOPNOTSUPP {
            if access(path, F_OK) == 0 { throw .exists(new) }
            if Glibc.rename(old, path) == 0 { return }
            code = errno
        }
        throw code == EEXIST ? .exists(new) : .failed(path: path, reason: systemMessage(code))
    }

    /// Deletes a playlist.
    package func remove(_ name: String) throws(Failure) {
        guard Self.isValid(name) else { throw .invalidName(name) }
        let path = directory.absolute(name + Self.extent)
        guard unlink(path) == 0 else {
            let code = errno
            throw code == ENOENT ? .noSuchPlaylist(name) : .failed(path: path, reason: systemMessage(code))
        }
    }

    private static func tooLarge(_ path: String) -> Failure {
        .failed(path: path, reason: "larger than 16 MiB, the limit for playlists")
    }

    /// Returns whether `name` is a single line, and a file name that is not hidden.
    private static func isValid(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && name.utf8.count + extent.utf8.count <= 255
            && !name.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard descriptor >= 0 else { throw .failed(path: path, reason: systemMessage(errno)) }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .failed(path: path, reason: systemMessage(errno)) }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw .failed(path: path, reason: systemMessage(errno)) }
    }
}
