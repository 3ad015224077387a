import BackgrounderAPI
import FoundationEssentials
import Glibc
import Logging
import MediaFiles
import SystemSupport

/// A scan of the music directory or a part of it: reads the files that differ from the index, and updates the index.
///
/// Memory is bounded by the largest folder. Written changes stay: after an interrupted scan, the next one finds no
/// difference in the part that was done. Only the library's thread uses it.
struct LibraryScan {
    let directory: MusicDirectory
    let index: any MusicIndex
    let watch: DirectoryWatch?
    let logger: Logger
    /// Whether to stop; called between two files.
    let isEnded: () -> Bool

    private(set) var tally = Tally()
    private var changes = MusicChanges()
    /// The number of scanned folders.
    private var folders = 0
    /// The current number of songs.
    private(set) var songs: Int
    private let began = MonotonicTime.now.nanoseconds
    private var flushed = MonotonicTime.now.nanoseconds
    private var told = MonotonicTime.now.nanoseconds

    struct Tally: Equatable {
        /// The number of scanned files.
        var seen = 0
        var added = 0
        var updated = 0
        var removed = 0
        /// Files without playable sound.
        var silent = 0
        /// Files and folders beyond the limits.
        var tooMany = 0

        var isChanged: Bool { added + updated + removed > 0 }
    }

    // Tuned: a directory beyond these limits is not a music directory
    static let deepest = 32
    static let mostSongs = 200_000
    static let mostFolders = 100_000
    /// Tuned: the changes of a commit, few enough that other writers do not wait long.
    private static let batch = 100

    init(
        _ directory: MusicDirectory,
        _ index: any MusicIndex,
        _ watch: DirectoryWatch?,
        _ logger: Logger,
        isEnded: @escaping () -> Bool
    ) throws {
        (self.directory, self.index, self.watch, self.logger) = (directory, index, watch, logger)
        self.isEnded = isEnded
        songs = try index.count()
    }

    /// Scans `path`, which may be a file, a folder or gone. Throws the errors of the index.
    ///
    /// - Parameters:
    ///   - deep: whether to scan known folders below it too.
    ///   - rescan: whether to read unchanged files too.
    mutating func scan(_ path: String, deep: Bool, rescan: Bool = false) throws {
        guard let path = MusicDirectory.normalized(path) else { return }
        if directory.hasFolder(path) {
            var waiting = [path]
            while let folder = waiting.popLast(), !isEnded() {
                if folders == Self.mostFolders {
                    tally.tooMany += waiting.count + 1
                    break
                }
                folders += 1
                waiting += try look(at: folder, deep: deep, rescan)
            }
        } else if !path.isEmpty {
            // A file, or something that is gone: scan the nearest folder that exists.
            var folder = musicFolder(of: path)
            while !directory.hasFolder(folder), !folder.isEmpty { folder = musicFolder(of: folder) }
            _ = try look(at: folder, deep: false, rescan)
        }
        try flush()
        // Removed files may have been songs or not, so count again.
        if tally.isChanged { songs = try index.count() }
    }

    /// Removes everything from the index, because the directory is gone.
    mutating func forgetEverything() throws {
        if songs == 0 { return }
        changes.removedFolders = [""]
        watch?.remove(below: "")
        try flush()
    }

    /// Scans `folder`. Returns the folders in it that must be scanned too.
    private mutating func look(at folder: String, deep: Bool, _ rescan: Bool) throws -> [String] {
        watch?.add(folder)
        guard let listing = FolderListing(directory.absolute(folder)) else {
            logger.warning("Cannot read \(directory.absolute(folder)): \(systemMessage(errno))")
            return []
        }
        let known = try index.folder(folder)
        let prefix = folder.isEmpty ? "" : folder + "/"
        for name in known.files.keys where listing.files[name] == nil {
            remove(prefix + name.text, Before(name, in: known))
        }
        let present = Set(listing.folders)
        for name in known.folders where !present.contains(name) {
            changes.removedFolders.append(prefix + name.text)
            watch?.remove(below: prefix + name.text)
        }
        if !folder.isEmpty { changes.folders[folder] = listing.modified }
        for (name, signature) in listing.files {
            tally.seen += 1
            if known.files[name] == signature, !rescan { continue }
            let before = Before(name, in: known)
            if before != .song, songs >= Self.mostSongs {
                tally.tooMany += 1
                continue
            }
            if isEnded() { return [] }
            read(prefix + name.text, signature, before)
            try flushIfDue()
        }
        guard folder.utf8.count(where: { $0 == UInt8(ascii: "/") }) < Self.deepest else { return [] }
        return listing.folders.filter { deep || !known.folders.contains($0) }.map { prefix + $0.text }
    }

    /// The index's previous entry for a file.
    private enum Before {
        case nothing, silence, song

        init(_ name: FileName, in known: MusicFolder) {
            self = known.files[name] == nil ? .nothing : known.silent.contains(name) ? .silence : .song
        }
    }

    private mutating func remove(_ path: String, _ before: Before) {
        if before != .nothing { changes.removedFiles.append(path) }
        if before == .song { countRemoval() }
    }

    private mutating func countRemoval() {
        tally.removed += 1
        songs -= 1
    }

    private mutating func read(_ path: String, _ signature: FileSignature, _ before: Before) {
        let file: MediaFile
        do throws(MediaError) {
            file = try directory.open(path)
        } catch {
            // It is gone, or unreadable for now; either way its entry is no longer valid.
            logger.debug("Not in the music database: \(path): \(error.reason)")
            remove(path, before)
            return
        }
        do throws(DecodingFault) {
            let description = try FileDescription(file)
            let song = Song(
                path: path,
                modified: Date(timeIntervalSince1970: Double(signature.modified) / 1e9),
                duration: description.duration,
                sampleRate: description.format.rate,
                channels: description.format.channels,
                tags: description.tags
            )
            changes.songs.append((song, signature))
            if before == .song {
                tally.updated += 1
            } else {
                tally.added += 1
                songs += 1
            }
        } catch {
            logger.debug("Not in the music database: \(path): \(error.reason)")
            changes.silent.append((path, signature))
            tally.silent += 1
            if before == .song { countRemoval() }
        }
    }

    private mutating func flushIfDue() throws {
        let now = MonotonicTime.now.nanoseconds
        // Tuned: bounds the reading that a kill may lose
        if changes.count >= Self.batch || now - flushed > 2_000_000_000 { try flush() }
        if now - told > 10_000_000_000 {
            told = now
            logger.info("Reading the music directory: \(counted(songs, "song")) so far")
        }
    }

    private mutating func flush() throws {
        flushed = MonotonicTime.now.nanoseconds
        if changes.count > 0 || !changes.folders.isEmpty {
            let gone = try index.apply(changes)
            tally.removed += gone
            songs -= gone
        }
        changes = MusicChanges()
    }

    /// The seconds since the scan began.
    var duration: Double { Double(MonotonicTime.now.nanoseconds - began) / 1e9 }
}

/// The media and the real folders in a folder. Hidden names, and names that do not fit a line, are left out.
struct FolderListing {
    private(set) var files: [FileName: FileSignature] = [:]
    private(set) var folders: [FileName] = []
    /// The modification time in nanoseconds since 1970.
    private(set) var modified: Int64 = 0

    /// Reads a folder. Returns nil if that fails; `errno` says why.
    init?(_ path: String) {
        guard let stream = opendir(path) else { return nil }
        defer { closedir(stream) }
        let descriptor = dirfd(stream)
        var status = stat()
        if fstat(descriptor, &status) == 0 { modified = FileSignature(status).modified }
        while let entry = readdir(stream) {
            guard let name = entryName(entry), !isHidden(name.utf8),
                !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
            else {
                continue
            }
            guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFLNK {
                // The target of a link is checked when the file is opened.
                guard MediaFile.hasMediaName(name), fstatat(descriptor, name, &status, 0) == 0 else { continue }
                if status.st_mode & S_IFMT == S_IFDIR { continue }
            }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: folders.append(FileName(name))
            case S_IFREG where MediaFile.hasMediaName(name): files[FileName(name)] = FileSignature(status)
            default: break
            }
        }
    }
}

extension FileSignature {
    init(_ status: stat) {
        let (seconds, nanoseconds) = (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        self.init(modified: isTooLarge ? 0 : product &+ nanoseconds, size: Int64(status.st_size))
    }
}
