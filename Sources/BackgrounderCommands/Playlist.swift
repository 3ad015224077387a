import BackgrounderAPI
import FoundationEssentials
import Glibc

/// An M3U playlist: a path a line, relative to the playlist's folder, `#` begins a comment.
struct Playlist {
    private static let sizeLimit = 16 << 20

    /// Absolute paths of the items that are there.
    private(set) var paths: [String] = []
    /// One line for each item that is not.
    private(set) var missing: [String] = []

    init(path: String) throws(CommandFailure) {
        let data = try Self.content(of: path)
        let folder = RuntimePaths.absolute(path + "/..")
        let lines = String(decoding: data, as: UTF8.self).split(
            omittingEmptySubsequences: false,
            whereSeparator: \.isNewline
        )
        for (index, line) in lines.enumerated() {
            let text = line.drop { $0 == "\u{FEFF}" || $0 == " " }
            guard !text.isEmpty, !text.hasPrefix("#") else { continue }
            let item = RuntimePaths.absolute(String(text), from: folder)
            if FileManager.default.fileExists(atPath: item) {
                paths.append(item)
            } else {
                missing.append("\(path):\(index + 1): there is no \(item)")
            }
        }
    }

    /// What a regular file holds, links followed; asked of one descriptor, so that no other file can take its place meanwhile.
    private static func content(of path: String) throws(CommandFailure) -> [UInt8] {
        // A pipe without a writer would wait for one.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { throw CommandFailure("\(path): no such file", exitCode: 4) }
            throw CommandFailure("cannot read \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        let refusal = CommandFailure("\(path) is no playlist that can be read: give a text file of at most 16 MiB")
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { throw refusal }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= sizeLimit {
            let count = read(descriptor, &chunk, chunk.count)
            guard count >= 0 else { throw refusal }
            if count == 0 { return bytes }
            bytes += chunk.prefix(count)
        }
        throw refusal
    }

    /// Writes `items` as an extended M3U; the file is there whole or not at all.
    static func write(_ items: [PlayerItem], to path: String) throws {
        var text = "#EXTM3U\n"
        for item in items {
            if let broken = item.path.first(where: \.isNewline) {
                throw CommandFailure(
                    "\(item.fileName) has a \(broken.debugDescription) in its path, which a playlist cannot hold"
                )
            }
            text +=
                "#EXTINF:\(item.duration.map { $0.decimals(0) } ?? "-1"),\(item.name.withoutControlCharacters)\n\(item.path)\n"
        }
        do {
            try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure("cannot write \(path); check the folder and its mode")
        }
    }
}
