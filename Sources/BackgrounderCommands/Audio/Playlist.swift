import BackgrounderAPI
import FoundationEssentials
import Glibc
import Playlists
import SystemSupport

/// A playlist file that this command reads: its usable entries, and the faults of the others.
struct Playlist {
    /// The usable entries, in order.
    private(set) var entries: [PlaylistFile.Entry] = []
    private var refused: [PlaylistFile.Fault]
    private let path: String

    /// The faults of the other entries, in order, each as `file:line: reason`.
    var faults: [String] {
        refused.sorted { $0.line < $1.line }.map { "\(path):\($0.line): \($0.reason)" }
    }

    /// Reads the playlist at `path`, which is absolute.
    init(path: String) throws(CommandFailure) {
        self.path = path
        let file: PlaylistFile
        do {
            file = try PlaylistFile(Self.content(of: path), path: path)
        } catch let error as PlaylistError {
            throw CommandFailure("\(path): \(error)")
        } catch {
            throw error as? CommandFailure ?? CommandFailure("\(path): \(error)")
        }
        refused = file.faults
        for entry in file.entries {
            if let reason = Self.refusal(of: entry.path) {
                refused.append(PlaylistFile.Fault(line: entry.line, reason: reason))
            } else {
                entries.append(entry)
            }
        }
    }

    /// Adds the entries in pieces that fit into a request. An entry that the service rejects becomes a fault.
    mutating func add<Item>(
        _ enqueue: (EnqueueRequest) async throws -> [Item]
    ) async throws -> [Item] {
        var added: [Item] = []
        var rest = entries[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Self.fitting(rest))
            rest = rest.dropFirst(piece.count)
            try await add(piece, to: &added, enqueue)
        }
        return added
    }

    private mutating func add<Item>(
        _ piece: ArraySlice<PlaylistFile.Entry>,
        to added: inout [Item],
        _ enqueue: (EnqueueRequest) async throws -> [Item]
    ) async throws {
        do {
            added += try await enqueue(EnqueueRequest(items: piece.map(\.path)))
        } catch let failure as CommandFailure where failure.exitCode == 4 {
            guard piece.count > 1 else {
                refused += piece.map { PlaylistFile.Fault(line: $0.line, reason: failure.description) }
                return
            }
            // The service adds all entries or none, and may reject one that looks fine from here, such as a folder
            // without music. Split the piece until only the rejected entries are left.
            let half = piece.count / 2
            try await add(piece.prefix(half), to: &added, enqueue)
            try await add(piece.dropFirst(half), to: &added, enqueue)
        }
    }

    /// Returns how many of `entries` fit into a request body, which is limited to 1 MiB.
    private static func fitting(_ entries: ArraySlice<PlaylistFile.Entry>) -> Int {
        var size = 0
        let limit = 900 << 10
        let fitting = entries.prefix { entry in
            size += entry.path.utf8.reduce(3) { $0 + ($1 < 0x20 ? 6 : $1 == 0x22 || $1 == 0x5C ? 2 : 1) }
            return size <= limit
        }
        return max(1, fitting.count)
    }

    /// Returns why `path` cannot be added, or `nil` if it can.
    private static func refusal(of path: String) -> String? {
        if StreamAddress.isSupported(path) { return nil }
        var facts = stat()
        guard stat(path, &facts) == 0 else {
            return errno == ENOENT || errno == ENOTDIR
                ? "\(path): no such file or folder" : "cannot read \(path): \(systemMessage(errno))"
        }
        switch facts.st_mode & S_IFMT {
        case S_IFREG: return PlaylistFile.isPlaylist(path) ? "\(path): playlists inside playlists are skipped" : nil
        case S_IFDIR: return nil
        default: return "\(path) is not a file or folder"
        }
    }

    /// Returns the content of a regular file, following links. Checks and reads one descriptor, so that the file cannot
    /// be replaced in between.
    private static func content(of path: String) throws(CommandFailure) -> [UInt8] {
        // Without O_NONBLOCK, opening a FIFO would wait for a writer.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { throw CommandFailure("\(path): no such file", exitCode: 4) }
            throw CommandFailure("cannot read \(path): \(systemMessage(errno))")
        }
        defer { close(descriptor) }
        let refusal = CommandFailure("cannot read \(path) as a playlist; use a text file of at most 16 MiB")
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { throw refusal }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= PlaylistFile.sizeLimit {
            let count = read(descriptor, &chunk, chunk.count)
            guard count >= 0 else { throw refusal }
            if count == 0 { return bytes }
            bytes += chunk.prefix(count)
        }
        throw refusal
    }

    /// Writes `items` as extended M3U, or as PLS if `path` ends in `.pls`. The file is replaced atomically.
    static func write(_ items: [PlayerItem], to path: String) throws {
        for item in items {
            if let broken = item.path.unicodeScalars.first(where: { $0 == "\n" || $0 == "\r" }) {
                throw CommandFailure(
                    "cannot save \(item.fileName): its path contains \(String(broken).debugDescription), which a playlist cannot hold"
                )
            }
        }
        let text = path.lowercased().hasSuffix(".pls") ? pls(items) : m3u(items)
        do {
            try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure("cannot write \(path): \(Self.reason(error)); check the folder and its mode")
        }
    }

    private static func reason(_ error: any Error) -> String {
        let underlying = (error as? CocoaError)?.underlying as? POSIXError
        return underlying.map { systemMessage($0.code.rawValue) } ?? "\(error)"
    }

    private static func m3u(_ items: [PlayerItem]) -> String {
        items.reduce(into: "#EXTM3U\n") { text, item in
            text += "#EXTINF:\(length(item)),\(item.name.withoutControlCharacters)\n\(item.path)\n"
        }
    }

    private static func pls(_ items: [PlayerItem]) -> String {
        var text = "[playlist]\n"
        for (index, item) in items.enumerated() {
            let number = index + 1
            text += "File\(number)=\(item.path)\nTitle\(number)=\(item.name.withoutControlCharacters)\n"
            text += "Length\(number)=\(length(item))\n"
        }
        return text + "NumberOfEntries=\(items.count)\nVersion=2\n"
    }

    /// The length in whole seconds; -1 if it is unknown.
    private static func length(_ item: PlayerItem) -> String { item.duration.map { $0.decimals(0) } ?? "-1" }
}
