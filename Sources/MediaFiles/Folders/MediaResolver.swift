import BackgrounderAPI
package import Glibc
package import Logging
import Playlists
import SystemSupport
import WebSupport

/// The files that a caller may name.
package enum MediaScope: Hashable, Sendable {
    case everywhere
    /// The files in this folder, after its own symbolic links are resolved; no files if it is nil.
    case folder(String?)

    /// Checks that `path` is inside the folder. The error does not reveal whether a file outside of it exists.
    fileprivate func require(_ path: String) throws(MediaError) {
        guard case .folder(let folder) = self else { return }
        guard let folder, let root = realPath(folder),
            let target = realPath(path) ?? realPath(Self.parent(of: path)),
            (target + "/").hasPrefix(root + "/")
        else { throw .outside(path: path, folder: folder) }
    }

    /// Returns the parent of a path that does not exist.
    private static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"
    }
}

/// Resolves paths to files: a folder to all media in and below it, in natural order, and a playlist to its entries. An
/// address on the network resolves to itself, without a connection.
package actor MediaResolver {
    private let executor = QueueExecutor("backgrounder.audio.folders")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Tuned: the depth of nested folders; no media collection is deeper.
    private static let deepest = 16
    /// Tuned: the files of one command; each costs memory in every list of the queue.
    private static let most = 100_000
    /// Tuned: the faults of a playlist that are logged; more do not help to repair it.
    private static let mostFaults = 20

    private let logger: Logger

    /// Creates a resolver.
    ///
    /// - Parameter logger: receives the faults of playlists.
    package init(logger: Logger) {
        self.logger = logger
    }

    /// Returns the regular files that `paths` resolve to, in order, at most 100,000. Files in folders are opened only when
    /// their turn to play comes.
    ///
    /// - Throws: ``MediaError`` for the first path that cannot be played.
    package func files(_ paths: [String], within scope: MediaScope = .everywhere) throws(MediaError) -> [String] {
        var files: [String] = []
        for path in paths {
            if StreamAddress.isAddress(path) {
                try Self.add(address: path, within: scope, to: &files)
                continue
            }
            try scope.require(path)
            let kind = try Kind(of: path)
            if kind == .file, PlaylistFile.isPlaylist(path) {
                try addEntries(of: path, within: scope, to: &files)
            } else {
                try Self.add(path, kind, to: &files)
            }
        }
        return files
    }

    /// Checks that `path` is a readable regular file in `scope`.
    ///
    /// - Throws: ``MediaError`` if it is not.
    package func requireFile(_ path: String, within scope: MediaScope) throws(MediaError) {
        try scope.require(path)
        do {
            _ = try MediaFile(path: path)
        } catch .notPlayableKind(let path, let kind) {
            throw .notAFile(path: path, kind: kind)
        }
    }

    private static func add(
        address: String,
        within scope: MediaScope,
        to files: inout [String]
    ) throws(MediaError) {
        guard scope == .everywhere else { throw .foreignAddress(address) }
        guard files.count < most else { throw .tooMany(path: address, most: most) }
        do throws(WebURLError) {
            files.append(try WebURL(address).description)
        } catch {
            throw .invalidAddress(reason: error.description)
        }
    }

    private static func add(_ path: String, _ kind: Kind, to files: inout [String]) throws(MediaError) {
        switch kind {
        case .file:
            guard files.count < most else { throw .tooMany(path: path, most: most) }
            try MediaFile(path: path).requireAudio()
            files.append(path)
        case .folder(let id):
            let before = files.count
            var visited: Set<FileID> = [id]
            try collect(from: path, into: &files, &visited, depth: 0)
            if files.count == before { throw .noMedia(folder: path) }
        }
    }

    /// Adds the playable entries of a playlist and logs the others. Throws if none can be played.
    private func addEntries(of path: String, within scope: MediaScope, to files: inout [String]) throws(MediaError) {
        let file = try MediaFile(path: path)
        let playlist: PlaylistFile
        do {
            playlist = try PlaylistFile(
                file.bytes(at: 0, count: min(file.size, PlaylistFile.sizeLimit + 1)),
                path: path
            )
        } catch {
            throw .unreadable(path: path, reason: error.description)
        }
        var faults = playlist.faults
        let before = files.count
        for entry in playlist.entries {
            do throws(MediaError) {
                if PlaylistFile.isPlaylist(entry.path) {
                    throw .unreadable(path: entry.path, reason: "a playlist inside a playlist is ignored")
                }
                if StreamAddress.isAddress(entry.path) {
                    try Self.add(address: entry.path, within: scope, to: &files)
                } else {
                    try scope.require(entry.path)
                    try Self.add(entry.path, Kind(of: entry.path), to: &files)
                }
            } catch .tooMany(let path, let most) {
                throw .tooMany(path: path, most: most)
            } catch {
                faults.append(PlaylistFile.Fault(line: entry.line, reason: error.description))
            }
        }
        faults.sort { $0.line < $1.line }
        guard files.count > before else {
            throw .emptyPlaylist(path: path, fault: faults.first.map { "line \($0.line): \($0.reason)" })
        }
        for fault in faults.prefix(Self.mostFaults) {
            logger.warning("\(printable("\(path):\(fault.line): \(fault.reason)"))")
        }
        if faults.count > Self.mostFaults {
            logger.warning("\(printable(path)): \(faults.count - Self.mostFaults) more faulty lines")
        }
    }

    /// Adds the media in and below `folder`. A folder is visited once, even if several links lead to it.
    private static func collect(
        from folder: String,
        into files: inout [String],
        _ visited: inout Set<FileID>,
        depth: Int
    ) throws(MediaError) {
        guard depth < deepest else { return }
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        for entry in entries(of: folder) {
            let path = prefix + entry.name.name
            switch entry.isFile ? .file : try? Kind(of: path) {
            case .folder(let id) where visited.insert(id).inserted:
                try collect(from: path, into: &files, &visited, depth: depth + 1)
            case .file where MediaFile.hasMediaName(entry.name.name):
                guard files.count < most else { throw .tooMany(path: folder, most: most) }
                files.append(path)
            default: break
            }
        }
    }

    private struct Entry {
        let name: NaturalName
        /// Known to be a regular file, so that `stat` is not needed.
        let isFile: Bool
    }

    /// Returns the entries of a folder in natural order. Names that are not valid UTF-8 are skipped.
    private static func entries(of folder: String) -> [Entry] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var entries: [Entry] = []
        while let entry = readdir(directory) {
            guard let name = entryName(entry), !isHidden(name.utf8) else { continue }
            entries.append(Entry(name: NaturalName(name), isFile: Int(entry.pointee.d_type) == Int(DT_REG)))
        }
        return entries.sorted { $0.name < $1.name }
    }
}

/// Returns the name of a directory entry, or nil if it is not valid UTF-8.
package func entryName(_ entry: UnsafeMutablePointer<dirent>) -> String? {
    // An entry is only as long as its name, shorter than its type; its end may be the end of the memory.
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return nil }
    return String(validatingCString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
}

/// Returns whether a name is `..` or begins with a single dot; `...And Justice for All` is an album.
package func isHidden(_ name: some Collection<UInt8>) -> Bool {
    let dots = name.prefix { $0 == UInt8(ascii: ".") }.count
    return dots == 1 || (dots == 2 && name.count == 2)
}

/// The kind of a playable path; links are followed.
private enum Kind: Equatable {
    case file
    case folder(FileID)

    init(of path: String) throws(MediaError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            throw code == ENOENT || code == ENOTDIR
                ? .noSuchPath(path: path) : .unreadable(path: path, reason: systemMessage(code))
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .folder(FileID(status))
        default: throw .notPlayableKind(path: path, kind: kindName(status.st_mode))
        }
    }
}

/// The identity of a file.
private struct FileID: Hashable {
    let device: dev_t
    let inode: ino_t

    init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }
}
