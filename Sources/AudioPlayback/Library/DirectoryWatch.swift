import Glibc

/// The kernel's inotify, one watch a folder. The library's thread uses it alone.
final class DirectoryWatch {
    enum Event: Hashable {
        /// Something in this folder, by its path in the music directory.
        case changed(folder: String)
        /// A folder came to be at this path, with whatever is in it.
        case appeared(folder: String)
        /// The kernel lost events, or the directory itself is another one.
        case everything
        /// A stored playlist.
        case playlists
    }

    /// Readable when there are events.
    let descriptor: CInt
    private let directory: MusicDirectory
    private var folders: [CInt: String] = [:]
    private var watches: [String: CInt] = [:]
    /// On the folder that the music directory is missing in, and the name that is waited for there.
    private var parent: (watch: CInt, name: String)?
    /// The system gave no watch for a folder: its `errno`. Said once.
    private(set) var refusal: CInt?
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 8)

    private static let mask = UInt32(
        IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
            | IN_ONLYDIR
    )

    /// `nil` when the system has no instance to give.
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

    /// Call it before the folder is read, so that nothing is missed.
    func add(_ folder: String) {
        let watch = inotify_add_watch(descriptor, directory.absolute(folder), Self.mask)
        guard watch >= 0 else {
            if errno == ENOSPC || errno == ENOMEM { refusal = refusal ?? errno }
            return
        }
        // A folder that was moved keeps its watch.
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

    /// Waits for the music directory, which is not there: in the nearest folder that is.
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

    /// What happened since the last call; never blocks.
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
            // Without a name it is about the folder itself.
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

    /// A file that is being written is looked at when it is closed; a link or a second name has all that it will have.
    private func isWholeAtOnce(_ folder: String, _ name: String) -> Bool {
        var status = stat()
        guard lstat(directory.absolute(folder) + "/" + name, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFLNK || status.st_nlink > 1
    }
}
