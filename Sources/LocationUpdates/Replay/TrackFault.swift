import BackgrounderAPI
import Glibc

/// Why a track cannot be read, or not any further; the points before the fault are good.
package struct TrackFault: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The operating system refuses it: `errno`.
        case unreadable(Int32)
        case notRegular
        /// What XML forbids, in expat's words.
        case notWellFormed(String)
        /// A page of the web, mostly a login in place of the file.
        case html
        /// A packed file, by the name of the packer.
        case packed(String)
        /// A document type declaration: none is needed, and it can define entities.
        case doctype
        /// More elements inside each other than any track has.
        case tooDeep(limit: Int)
        /// One tag or comment of more bytes than are read.
        case tooLong(limit: Int)
    }

    package var path: String
    /// From 1 on; `nil` where the file could not be opened at all.
    package var line: Int?
    package var kind: Kind

    package init(path: String, line: Int? = nil, kind: Kind) {
        self.path = path
        self.line = line
        self.kind = kind
    }

    /// Whether there is no such file.
    package var isMissing: Bool { kind == .unreadable(ENOENT) || kind == .unreadable(ENOTDIR) }

    package var description: String {
        let reason =
            switch kind {
            case .unreadable(let code): systemMessage(code)
            case .notRegular: "not a regular file"
            case .notWellFormed(let message): "damaged XML: \(message)"
            case .html: "an HTML page and no GPX; open the link in a browser, and save the file itself"
            case .packed(let packer): "packed with \(packer); unpack it first"
            case .doctype: "a DOCTYPE is refused"
            case .tooDeep(let limit): "elements nested deeper than \(limit)"
            case .tooLong(let limit): "a tag or comment longer than \(limit) bytes"
            }
        return line.map { "\(path):\($0): \(reason)" } ?? "\(path): \(reason)"
    }
}
