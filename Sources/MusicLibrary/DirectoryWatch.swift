import Glibc
import MediaFiles

/// Watches the music directory with inotify, one watch per folder. Only the library's thread uses it.
final class DirectoryWatch {
    enum Event: Hashable {
        /// Something changed in this folder, relative to the music directory.
        case changed(folder: String)
        /// A folder appeared at this path, with its content.
        case appeared(folder: String)
        /// The kernel lost events, or the directory itself was replaced.
        case everything
        /// A stored playlist changed.
        case playlists
    }

    /// A descriptor that is readable when there are events.
    let descriptor: CInt
    private let directory: MusicDirectory
    private var folders: [CInt: String] = [:]
    private var watches: [String: CInt] = [:]
    /// The watch on the nearest existing folder of a missing music directory, and the name that must appear there.
    private var parent: (watch: CInt, name: String)?
    /// The `errno` of the first folder that could not be watched.
    private(set) var refusal: CInt?
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 8)

    private static let mask = UInt32(
        IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
            | IN_ONLYDIR
    )

    /// Returns nil if the system has no inotify instance left.
    init?(_ directory: MusicDirectory) {
        self.directory = directory
        descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit {
        close(descriptor)
        buffer.deallocate()
    }

    var count: Int { folders.count }

    /// Watches a folder. Call it before reading the folder, so that no change is missed.
    func add(_ folder: String) {
        let watch = inotify_add_watch(descriptor, directory.absolute(folder), Self.mask)
        guard watch >= 0 else {
            if errno == ENOSPC || errno == ENOMEM { refusal = refusal ?? errno }
            return
        }
        // A moved folder keeps its watch.
        if let before = folders[watch] { watches[before] = nil }
        folders[watch] = folder
        watches[folder] = watch
    }

    func remove(below folder: String) {
        let prefix = folder + "/"
        for (path, watch) in watches where folder.isEmpty || path == folder || path.hasPrefix(prefix) {
            inotify_rm_watch(descriptor, watch)
            watches[path] = nil
            folders[watch] = nil
        }
    }

    /// Watches for a missing music directory, in the nearest folder that exists.
    func waitForDirectory() {
        stopWaiting()
        var path = directory.root
        while !path.isEmpty {
            let folder = musicFolder(of: path)
            let name = String(Substring(path.utf8.dropFirst(folder.utf8.count + 1)))
            let mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
            let watch = inotify_add_watch(descriptor, folder.isEmpty ? "/" : folder, mask)
            if watch >= 0 {
                parent = (watch, name)
                return
            }
            path = folder
        }
    }

    func stopWaiting() {
        if let parent { inotify_rm_watch(descriptor, parent.watch) }
        parent = nil
    }

    /// Returns the events since the last call. Never blocks.
    func events() -> Set<Event> {
        var events: Set<Event> = []
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { return events }
            var offset = 0
            let header = MemoryLayout<inotify_event>.size
            while offset + header <= count {
                let event = buffer.load(fromByteOffset: offset, as: inotify_event.self)
                let end = min(count, offset + header + Int(event.len))
                let name = String(decoding: buffer[(offset + header)..<end].prefix { $0 != 0 }, as: UTF8.self)
                note(event, name, in: &events)
                offset = end
            }
        }
    }

    private func note(_ event: inotify_event, _ name: String, in events: inout Set<Event>) {
        func isA(_ kinds: CInt...) -> Bool { kinds.contains { event.mask & UInt32($0) != 0 } }
        if let parent, event.wd == parent.watch {
            // An event without a name is about the folder itself.
            if name.isEmpty || name.utf8.elementsEqual(parent.name.utf8) { events.insert(.everything) }
            return
        }
        if isA(IN_Q_OVERFLOW) { events.insert(.everything) }
        guard let folder = folders[event.wd] else { return }
        if isA(IN_IGNORED) {
            folders[event.wd] = nil
            if watches[folder] == event.wd { watches[folder] = nil }
            return
        }
        if isA(IN_DELETE_SELF, IN_MOVE_SELF, IN_UNMOUNT) {
            if folder.isEmpty { events.insert(.everything) }
            return
        }
        if isHidden(name.utf8) { return }
        let isFolder = isA(IN_ISDIR)
        if folder.isEmpty, !isFolder, name.hasSuffix(".m3u") { events.insert(.playlists) }
        if isFolder, isA(IN_CREATE, IN_MOVED_TO) {
            events.insert(.appeared(folder: folder.isEmpty ? name : folder + "/" + name))
        } else if !isFolder, isA(IN_CREATE) {
            if isWholeAtOnce(folder, name) { events.insert(.changed(folder: folder)) }
        } else {
            events.insert(.changed(folder: folder))
        }
    }

    /// Returns whether a new name is complete: a link or a hard link is, but a file being written is read when it is closed.
    private func isWholeAtOnce(_ folder: String, _ name: String) -> Bool {
        var status = stat()
        guard lstat(directory.absolute(folder) + "/" + name, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFLNK || status.st_nlink > 1
    }
}
