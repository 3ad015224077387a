import BackgrounderAPI
import FoundationEssentials

/// An M3U playlist: a path a line, relative to the playlist's folder, `#` begins a comment.
struct Playlist {
    private static let sizeLimit = 16 << 20

    /// Absolute paths of the items that are there.
    private(set) var paths: [String] = []
    /// One line for each item that is not.
    private(set) var missing: [String] = []

    init(path: String) throws {
        let manager = FileManager.default
        let attributes = try? manager.attributesOfItem(atPath: path)
        guard let attributes else { throw CommandFailure("\(path): no such file", exitCode: 4) }
        guard attributes[.type] as? FileAttributeType == .typeRegular,
            (attributes[.size] as? Int ?? 0) <= Self.sizeLimit,
            let data = manager.contents(atPath: path)
        else { throw CommandFailure("\(path) is no playlist that can be read: give a text file of at most 16 MiB") }
        let folder = RuntimePaths.absolute(path + "/..")
        let lines = String(decoding: data, as: UTF8.self).split(
            omittingEmptySubsequences: false,
            whereSeparator: \.isNewline
        )
        for (index, line) in lines.enumerated() {
            let text = line.drop { $0 == "\u{FEFF}" || $0 == " " }
            guard !text.isEmpty, !text.hasPrefix("#") else { continue }
            let item = RuntimePaths.absolute(String(text), from: folder)
            if manager.fileExists(atPath: item) {
                paths.append(item)
            } else {
                missing.append("\(path):\(index + 1): there is no \(item)")
            }
        }
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
            text += "#EXTINF:\(item.duration.map { $0.decimals(0) } ?? "-1"),\(item.name.withoutControlCharacters)\n\(item.path)\n"
        }
        do {
            try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure("cannot write \(path); check the folder and its mode")
        }
    }
}
