import Glibc
import SystemSupport

/// Why a track cannot be read, or not any further. The points before the fault are good.
package struct TrackFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault.
    package enum Kind: Hashable, Sendable {
        /// The operating system refused with this `errno`.
        case unreadable(Int32)
        case notRegular
        /// The XML is damaged, in expat's words.
        case notWellFormed(String)
        /// The file is a web page, usually a login page in place of the file.
        case html
        /// The file is compressed; the name of the compressor.
        case packed(String)
        /// The file has a document type declaration, which GPX does not need and which can define entities.
        case doctype
        /// Elements are nested deeper than in any track.
        case tooDeep(limit: Int)
        /// A tag or comment is longer than the limit, in bytes.
        case tooLong(limit: Int)
    }

    package var path: String
    /// The 1-based line; `nil` if the file could not be opened.
    package var line: Int?
    package var kind: Kind

    /// Creates a fault of the file at `path`.
    package init(path: String, line: Int? = nil, kind: Kind) {
        self.path = path
        self.line = line
        self.kind = kind
    }

    /// Whether the file does not exist.
    package var isMissing: Bool { kind == .unreadable(ENOENT) || kind == .unreadable(ENOTDIR) }

    package var description: String {
        let reason =
            switch kind {
            case .unreadable(let code): systemMessage(code)
            case .notRegular: "not a regular file"
            case .notWellFormed(let message): "damaged XML: \(message)"
            case .html: "an HTML page, not GPX; open the link in a browser and save the file itself"
            case .packed(let packer): "compressed with \(packer); decompress it first"
            case .doctype: "a DOCTYPE is refused"
            case .tooDeep(let limit): "elements are nested deeper than \(limit)"
            case .tooLong(let limit): "a tag or comment is longer than \(limit) bytes"
            }
        return line.map { "\(path):\($0): \(reason)" } ?? "\(path): \(reason)"
    }
}
