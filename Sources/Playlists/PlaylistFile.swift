import SystemSupport

/// The entries of a playlist file: M3U (one path per line, `#` begins a comment) or PLS (`FileN=path` under `[playlist]`).
///
///     let playlist = try PlaylistFile(bytes, path: "/music/trip.m3u")
///     playlist.entries.map(\.path)   // absolute
///
/// Only the text is read; the caller checks whether the files exist. An `.m3u8` must be UTF-8; others are Latin-1 if they are not UTF-8.
/// An invalid line affects only itself.
package struct PlaylistFile: Sendable {
    /// An entry with its line.
    package struct Entry: Hashable, Sendable {
        /// 1-based.
        package var line: Int
        /// An absolute path, or an http or https URL.
        package var path: String
    }

    /// An invalid line.
    package struct Fault: Hashable, Sendable {
        /// 1-based.
        package var line: Int
        package var reason: String

        /// Creates a fault.
        package init(line: Int, reason: String) {
            self.line = line
            self.reason = reason
        }
    }

    /// The most bytes of a playlist. Tuned: the longest real ones have a few megabytes.
    package static let sizeLimit = 16 << 20
    /// The most entries of a playlist. Tuned: as many as one command adds.
    package static let mostEntries = 100_000

    /// The entries in playing order.
    package private(set) var entries: [Entry] = []
    /// The faults in the order of lines.
    package private(set) var faults: [Fault] = []

    /// Returns whether a file with this name is a playlist.
    package static func isPlaylist(_ path: String) -> Bool {
        ["m3u", "m3u8", "pls"].contains(fileExtension(path))
    }

    /// Parses a playlist.
    ///
    /// - Parameters:
    ///   - path: the absolute path of the file; its extension counts, and relative paths start from its folder.
    ///   - folder: the folder that relative paths start from, if it is another one.
    /// - Throws: ``PlaylistError``.
    package init(_ bytes: [UInt8], path: String, folder: String? = nil) throws(PlaylistError) {
        guard bytes.count <= Self.sizeLimit else { throw .tooLarge }
        guard !bytes.contains(0) else { throw .notText }
        let folder = folder ?? RuntimePaths.absolute(path + "/..")
        let isUTF8 = Self.fileExtension(path) == "m3u8" || String(validating: bytes, as: UTF8.self) != nil
        var lines = PlaylistLines(bytes, encoding: isUTF8 ? .utf8 : .latin1)
        if Self.isPLS(bytes) {
            for (line, location) in try Self.pls(&lines, &faults) { add(location, line, from: folder) }
        } else {
            try readM3U(&lines, from: folder)
        }
        faults.sort { $0.line < $1.line }
    }

    private mutating func add(_ location: Substring, _ line: Int, from folder: String) {
        do {
            entries.append(Entry(line: line, path: try PlaylistLocation.path(location, from: folder)))
        } catch {
            faults.append(Fault(line: line, reason: error.description))
        }
    }

    /// Returns the locations in an M3U file as they are written: paths, which may be relative, and addresses.
    ///
    /// Unlike ``init(_:path:folder:)`` it keeps spaces before a name, since MPD's clients store names as they are. A line that is not
    /// UTF-8 is read as Latin-1.
    package static func locations(inM3U bytes: [UInt8]) -> [String] {
        var lines = PlaylistLines(bytes, encoding: .eitherPerLine)
        var locations: [String] = []
        while let line = lines.next() {
            if let text = line.text, let first = text.utf8.first, first != UInt8(ascii: "#") {
                locations.append(String(text))
            }
        }
        return locations
    }

    /// Returns the extension in lower case; empty if there is none.
    private static func fileExtension(_ path: String) -> String {
        guard let mark = path.utf8.lastIndex(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "/") }),
            path.utf8[mark] == UInt8(ascii: ".")
        else { return "" }
        return path[path.utf8.index(after: mark)...].lowercased()
    }

    /// Returns whether the first non-empty line is `[playlist]`.
    private static func isPLS(_ bytes: [UInt8]) -> Bool {
        var lines = PlaylistLines(bytes, encoding: .latin1)
        while let line = lines.next() {
            let text = (line.text ?? "").trimmed
            if !text.isEmpty { return text.lowercased() == "[playlist]" }
        }
        return false
    }

    private mutating func readM3U(_ lines: inout PlaylistLines, from folder: String) throws(PlaylistError) {
        var count = 0
        while let line = lines.next() {
            guard let text = line.text?.drop(while: { $0 == " " || $0 == "\t" }) else {
                faults.append(Fault(line: line.number, reason: "not valid UTF-8"))
                continue
            }
            guard let first = text.utf8.first, first != UInt8(ascii: "#") else { continue }
            count += 1
            guard count <= Self.mostEntries else { throw .tooMany }
            add(text, line.number, from: folder)
        }
    }

    /// Parses PLS. The numbers give the order; a missing or duplicate number is a fault of the line where it shows.
    private static func pls(
        _ lines: inout PlaylistLines,
        _ faults: inout [Fault]
    ) throws(PlaylistError) -> [(Int, Substring)] {
        var files: [Int: (line: Int, text: Substring)] = [:]
        var announced: (line: Int, count: Int)?
        while let line = lines.next() {
            let text = (line.text ?? "").drop { $0 == " " || $0 == "\t" }
            guard !text.isEmpty, !"#;[".contains(text.first ?? "#") else { continue }
            guard let mark = text.firstIndex(of: "=") else {
                faults.append(Fault(line: line.number, reason: "not KEY=VALUE"))
                continue
            }
            let key = text[..<mark].trimmed.lowercased()
            // A file name may end with a space.
            let value = text[text.index(after: mark)...].drop { $0 == " " || $0 == "\t" }
            if key == "numberofentries" {
                announced = Int(value.trimmed).map { (line.number, $0) }
            } else if key.hasPrefix("file") {
                if let fault = addFile(key.dropFirst(4), value, line.number, &files) {
                    faults.append(Fault(line: line.number, reason: fault))
                }
                guard files.count <= mostEntries else { throw .tooMany }
            } else if !["title", "length", "version"].contains(where: key.hasPrefix) {
                faults.append(Fault(line: line.number, reason: "unknown key \"\(key)\""))
            }
        }
        var expected = 1
        for (number, file) in files.sorted(by: { $0.key < $1.key }) {
            if number > expected { faults.append(Fault(line: file.line, reason: gap(expected, number - 1))) }
            expected = number + 1
        }
        if let announced, announced.count >= expected {
            faults.append(Fault(line: announced.line, reason: gap(expected, announced.count)))
        }
        return files.sorted { $0.key < $1.key }.map { ($1.line, $1.text) }
    }

    /// Adds `FileN=value`; returns its fault, or `nil`.
    private static func addFile(
        _ digits: Substring,
        _ value: Substring,
        _ line: Int,
        _ files: inout [Int: (line: Int, text: Substring)]
    ) -> String? {
        guard let number = Int(digits), (1...Int(Int32.max)).contains(number) else {
            return "\"File\(digits)\" has no valid number"
        }
        guard !value.isEmpty else { return "File\(number) is empty" }
        if let first = files[number] { return "duplicate File\(number), first in line \(first.line)" }
        files[number] = (line, value)
        return nil
    }

    private static func gap(_ first: Int, _ last: Int) -> String {
        first == last ? "File\(first) is missing" : "File\(first) to File\(last) are missing"
    }
}

/// Why a file cannot be read as a playlist.
package enum PlaylistError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooLarge
    case tooMany
    case notText

    package var description: String {
        switch self {
        case .tooLarge: "the playlist is larger than 16 MiB"
        case .tooMany: "the playlist has more than \(PlaylistFile.mostEntries) entries"
        case .notText: "not a playlist: it is not a text file"
        }
    }
}

/// The lines of a file, which end with LF, CR or both, without a byte order mark.
private struct PlaylistLines {
    private let bytes: [UInt8]
    private let encoding: Encoding
    private var offset = 0
    private var number = 0

    enum Encoding {
        case utf8, latin1
        /// Each line is UTF-8 if it can be, and Latin-1 otherwise.
        case eitherPerLine
    }

    init(_ bytes: [UInt8], encoding: Encoding) {
        self.bytes = bytes
        self.encoding = encoding
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    }

    /// Returns the next line; its text is `nil` if it must be UTF-8 and is not.
    mutating func next() -> (number: Int, text: Substring?)? {
        guard offset < bytes.count else { return nil }
        number += 1
        let (lf, cr) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
        let end = bytes[offset...].firstIndex { $0 == lf || $0 == cr } ?? bytes.count
        let line = bytes[offset..<end]
        offset = end + 1
        if end < bytes.count, bytes[end] == cr, offset < bytes.count, bytes[offset] == lf { offset += 1 }
        let utf8 = encoding == .latin1 ? nil : String(validating: line, as: UTF8.self)
        guard utf8 == nil, encoding != .utf8 else { return (number, utf8.map { Substring($0) }) }
        return (number, Substring(String(String.UnicodeScalarView(line.map { Unicode.Scalar($0) }))))
    }
}
