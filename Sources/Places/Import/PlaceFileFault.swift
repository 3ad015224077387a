import Glibc
import SystemSupport

/// Why a file of places or of a route was refused. Nothing of the file is kept.
///
/// Its description is one line: `stops.geojson:12: feature 3: the name is missing; add a property "name"`.
package struct PlaceFileFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A position in a file.
    package struct Position: Hashable, Sendable {
        /// The name of the file in an archive.
        package var entry: String?
        /// The 1-based line.
        package var line: Int?
        /// The item, such as `feature 3`.
        package var item: String?

        /// Creates a position; without arguments, the whole file.
        package init(entry: String? = nil, line: Int? = nil, item: String? = nil) {
            self.entry = entry
            self.line = line
            self.item = item
        }
    }

    /// The kind of fault.
    package enum Kind: Hashable, Sendable {
        /// The operating system refused with this `errno`.
        case unreadable(Int32)
        case notRegular
        case empty
        /// The file is larger than `limit` bytes.
        case tooLarge(limit: Int)
        /// The task that reads the file was cancelled.
        case cancelled
        /// The content belongs to none of the formats, or not to that of the file's extension.
        case unknownFormat
        /// The file is compressed; the name of the compressor.
        case compressed(String)
        /// The file is a web page, usually a login page in place of the file.
        case webPage
        case notUTF8
        /// The syntax of `format` is violated.
        case damaged(format: String, String)
        /// A required value is absent.
        case missing(String, remedy: String)
        /// A value is not what it must be.
        case invalid(String, value: String, expected: String)
        /// Two items have the same value, which must be unique; `first` is the item that had it before.
        case duplicate(String, value: String, first: String, remedy: String)
        /// The file has more than `limit` of something.
        case tooMany(String, limit: Int, remedy: String = "split the file")
        /// A text is longer than `limit` bytes.
        case tooLong(String, limit: Int)
        /// The content is well-formed but cannot become places or a route: the reason, and what to do.
        case unsuitable(String)
        /// The shape was refused, with a reason.
        case shape(String)
        /// The archive is damaged or hostile: the reason.
        case archive(String)
    }

    package var path: String
    package var position: Position
    package var kind: Kind

    /// Creates a fault of the file at `path`.
    package init(path: String, position: Position = Position(), kind: Kind) {
        self.path = path
        self.position = position
        self.kind = kind
    }

    package var description: String {
        var place = path
        if let entry = position.entry { place += ": \(entry)" }
        if let line = position.line { place += ":\(line)" }
        if let item = position.item { place += ": \(item)" }
        return "\(place): \(kind)".withoutControlCharacters
    }
}

extension PlaceFileFault.Kind: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(ENOENT): "no such file; check the path"
        case .unreadable(EACCES): "permission denied; check the file's mode"
        case .unreadable(let code): systemMessage(code)
        case .notRegular: "not a regular file; name a file"
        case .empty: "the file is empty; export it again"
        case .tooLarge(let limit): "larger than \(limit >> 20) MiB; split the file"
        case .cancelled: "cancelled; nothing was imported"
        case .unknownFormat:
            "unknown format; name a file with GeoJSON, GPX, CSV, OwnTracks waypoints, or a GTFS archive"
        case .compressed(let compressor): "compressed with \(compressor); decompress it first"
        case .webPage: "an HTML page; open the link in a browser and save the file itself"
        case .notUTF8: "invalid UTF-8; save the file as UTF-8"
        case .damaged(let format, let message): "damaged \(format): \(message)"
        case .missing(let what, let remedy): "\(what) is missing; \(remedy)"
        case .invalid(let what, let value, let expected): "\(what) is \(quoted(value)); it must be \(expected)"
        case .duplicate(let what, let value, let first, let remedy):
            "the \(what) \(quoted(value)) is also that of \(first); \(remedy)"
        case .tooMany(let what, let limit, let remedy): "more than \(limit) \(what); \(remedy)"
        case .tooLong(let what, let limit): "\(what) is longer than \(limit) bytes; shorten it"
        case .unsuitable(let reason), .shape(let reason), .archive(let reason): reason
        }
    }
}

/// Returns a value of a file in quotation marks, cut if it is long.
func quoted(_ value: String) -> String {
    // Scalars, because one character may have thousands of accents.
    let start = value.unicodeScalars.prefix(64)
    return "\"\(String(start))\(start.endIndex == value.endIndex ? "" : "…")\""
}

/// A fault before the path of its file is added.
struct ImportFault: Error {
    var position: PlaceFileFault.Position
    var kind: PlaceFileFault.Kind

    init(_ kind: PlaceFileFault.Kind, line: Int? = nil, item: String? = nil, entry: String? = nil) {
        self.kind = kind
        position = PlaceFileFault.Position(entry: entry, line: line, item: item)
    }

    func at(_ path: String) -> PlaceFileFault { PlaceFileFault(path: path, position: position, kind: kind) }

    /// The fault with a line, an item or an entry, where it names none yet.
    func with(line: Int? = nil, item: String? = nil, entry: String? = nil) -> ImportFault {
        var fault = self
        fault.position.line = position.line ?? line
        fault.position.item = position.item ?? item
        fault.position.entry = position.entry ?? entry
        return fault
    }
}
