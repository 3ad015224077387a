import Glibc

/// Turns what somebody named into files: a folder means the media in it and below it, in natural order.
actor MediaFolder {
    private let executor = BlockingExecutor("audio folders")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// What counts as media in a folder; a file that somebody names may have any name.
    static let extensions: Set<String> = [
        "mp3", "mp2", "mpga", "wav", "wave", "rf64", "w64", "flac", "ogg", "oga", "opus", "aif", "aiff", "aifc", "au",
        "snd",
        "caf",
    ]
    /// judgement: folders in folders
    private static let deepest = 16
    /// judgement: files of one command; each costs memory in every list of the queue
    private static let most = 100_000

    /// The regular files that `paths` stand for, in order. Throws for the first path that is nothing to play, or with
    /// which there are more than 100,000.
    func files(_ paths: [String]) throws(PlayerError) -> [String] {
        var files: [String] = []
        for path in paths {
            var status = stat()
            guard stat(path, &status) == 0 else {
                let code = errno
                throw code == ENOENT || code == ENOTDIR
                    ? .noSuchPath(path: path) : .unreadable(path: path, reason: systemReason(code))
            }
            switch status.st_mode & S_IFMT {
            case S_IFREG: files.append(path)
            case S_IFDIR:
                let before = files.count
                var visited: Set<FileID> = [FileID(status)]
                try Self.collect(from: path, into: &files, &visited, depth: 0)
                if files.count == before { throw .noMedia(folder: path) }
            default: throw .notPlayableKind(path: path, kind: kindName(status.st_mode))
            }
        }
        return files
    }

    /// A folder is gone through once, however many links lead to it.
    private static func collect(
        from folder: String,
        into files: inout [String],
        _ visited: inout Set<FileID>,
        depth: Int
    ) throws(PlayerError) {
        guard depth < deepest, let directory = opendir(folder) else { return }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        closedir(directory)
        names.sort { naturallyPrecedes($0, $1) }
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        for name in names {
            let path = prefix + name
            var status = stat()
            guard stat(path, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR where visited.insert(FileID(status)).inserted:
                try collect(from: path, into: &files, &visited, depth: depth + 1)
            case S_IFREG where extensions.contains(name.split(separator: ".").last?.lowercased() ?? ""):
                guard files.count < most else {
                    throw .unreadable(path: folder, reason: "more than \(most) files at once; name a smaller folder")
                }
                files.append(path)
            default: break
            }
        }
    }
}

/// What makes two paths the same file.
private struct FileID: Hashable {
    let device: dev_t
    let inode: ino_t

    init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }
}

/// The order in which people count: "2 b" before "10 a", and no difference between A and a unless all else is equal.
func naturallyPrecedes(_ first: String, _ second: String) -> Bool {
    var left = Substring(first.lowercased())
    var right = Substring(second.lowercased())
    while let a = left.first, let b = right.first {
        if a.isASCII, a.isNumber, b.isASCII, b.isNumber {
            let x = takeNumber(&left)
            let y = takeNumber(&right)
            if x.count != y.count { return x.count < y.count }
            if x != y { return x < y }
        } else {
            if a != b { return a < b }
            left.removeFirst()
            right.removeFirst()
        }
    }
    if left.isEmpty != right.isEmpty { return left.isEmpty }
    return first < second
}

/// The digits in front, without leading zeros.
private func takeNumber(_ text: inout Substring) -> Substring {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    text.removeFirst(digits.count)
    return digits.drop { $0 == "0" }
}
