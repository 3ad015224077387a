import BackgrounderAPI
import FoundationEssentials
import Glibc
import Logging

/// One look at the music directory or a part of it: what differs from the index is read and written there.
///
/// Memory is bounded by the largest folder. What was written stays: a scan that was cut off is taken up by the next one, which
/// finds no difference as far as the first had come. The library's thread uses it alone.
struct LibraryScan {
    let directory: MusicDirectory
    let index: any MusicIndex
    let watch: DirectoryWatch?
    let logger: Logger
    /// Asked between two files.
    let isEnded: () -> Bool

    private(set) var tally = Tally()
    private var changes = MusicChanges()
    /// Folders that were looked at.
    private var folders = 0
    /// How many there are now.
    private(set) var songs: Int
    private let began = monotonicNow()
    private var flushed = monotonicNow()
    private var told = monotonicNow()

    struct Tally: Equatable {
        /// Files that were looked at.
        var seen = 0
        var added = 0
        var updated = 0
        var removed = 0
        /// Files without sound that a player knows.
        var silent = 0
        /// Files and folders that were left out since there were too many.
        var tooMany = 0

        var isChanged: Bool { added + updated + removed > 0 }
    }

    // judgement: beyond these, the directory is not one of music
    static let deepest = 32
    static let mostSongs = 200_000
    static let mostFolders = 100_000
    /// judgement: a commit that keeps no other writer waiting for long
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

    /// Looks at `path`, which may be a file, a folder or gone. Throws what the index throws.
    ///
    /// - Parameters:
    ///   - deep: also at the folders in it that are known already.
    ///   - rescan: also at files that seem to be as they were.
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
            // A file, or something that is gone: the nearest folder that is there knows.
            var folder = musicFolder(of: path)
            while !directory.hasFolder(folder), !folder.isEmpty { folder = musicFolder(of: folder) }
            _ = try look(at: folder, deep: false, rescan)
        }
        try flush()
        // Of what is gone nobody knows here whether there was sound in it.
        if tally.isChanged { songs = try index.count() }
    }

    /// The directory is gone, and with it all that was in it.
    mutating func forgetEverything() throws {
        if songs == 0 { return }
        changes.removedFolders = [""]
        watch?.remove(below: "")
        try flush()
    }

    /// The folders in `folder` that are to be looked at, too.
    private mutating func look(at folder: String, deep: Bool, _ rescan: Bool) throws -> [String] {
        watch?.add(folder)
        guard let listing = FolderListing(directory.absolute(folder)) else {
            logger.warning("\(directory.absolute(folder)) cannot be read: \(systemMessage(errno))")
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

    /// What was known of a file.
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
        do throws(PlayerError) {
            file = try directory.open(path)
        } catch {
            // Perhaps it may be read tomorrow, or is gone by now; what it was is not so any more.
            logger.debug("\(path) is not in the music database: \(error.reason)")
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
            logger.debug("\(path) is not in the music database: \(error.reason)")
            changes.silent.append((path, signature))
            tally.silent += 1
            if before == .song { countRemoval() }
        }
    }

    private mutating func flushIfDue() throws {
        let now = monotonicNow()
        // judgement: how much reading a kill may cost
        if changes.count >= Self.batch || now - flushed > 2_000_000_000 { try flush() }
        if now - told > 10_000_000_000 {
            told = now
            logger.info("The music database has \(songs) songs, and more are being read.")
        }
    }

    private mutating func flush() throws {
        flushed = monotonicNow()
        if changes.count > 0 || !changes.folders.isEmpty {
            let gone = try index.apply(changes)
            tally.removed += gone
            songs -= gone
        }
        changes = MusicChanges()
    }

    /// Seconds since it began.
    var duration: Double { Double(monotonicNow() - began) / 1e9 }
}

/// What lies in a folder: media, and folders that are no links. Hidden ones are not listed, nor names that no line can hold.
struct FolderListing {
    private(set) var files: [FileName: FileSignature] = [:]
    private(set) var folders: [FileName] = []
    /// Nanoseconds since 1970.
    private(set) var modified: Int64 = 0

    /// `nil` when it cannot be read; `errno` says why.
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
                // Where a link leads to is checked when the file is opened.
                guard MediaFolder.hasMediaName(name), fstatat(descriptor, name, &status, 0) == 0 else { continue }
                if status.st_mode & S_IFMT == S_IFDIR { continue }
            }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: folders.append(FileName(name))
            case S_IFREG where MediaFolder.hasMediaName(name): files[FileName(name)] = FileSignature(status)
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
