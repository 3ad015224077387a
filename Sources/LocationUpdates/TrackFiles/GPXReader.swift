import CExpat
package import FoundationEssentials
import Glibc

/// A point of a track file.
package struct TrackPoint: Hashable, Sendable {
    /// The 0-based number of the `trkpt` in the file; points that are not valid fixes count too.
    package var index: Int
    package var fix: Fix
}

/// Reads the track points of a GPX 1.0 or 1.1 file of any size, block by block.
///
/// Only what XML forbids counts as damage; an odd value makes an invalid fix or an unknown field. One thread at a time; blocks on
/// the file.
///
///     let reader = try GPXReader(path: "walk.gpx", start: Date())
///     while let points = try reader.next() { ... }
package final class GPXReader {
    private let path: String
    private let file: TrackFile
    private let parser: XML_Parser
    private let content: GPXContent
    private var bytesRead = 0
    private var isAtEnd = false
    private var fault: TrackFault?
    private static let blockSize: Int32 = 65_536
    /// The longest tag or comment that is read, in bytes; bounds the memory.
    private static let tokenLimit = 8 << 20

    /// Opens `path`.
    ///
    /// - Parameter start: points before the file's first time are 1 s apart from here; `nil` leaves them without a time.
    /// - Throws: ``TrackFault`` if the file cannot be opened or is not a regular file.
    package init(path: String, start: Date?) throws(TrackFault) {
        file = try TrackFile(path: path)
        guard let parser = XML_ParserCreate(nil) else {
            throw TrackFault(path: path, kind: .unreadable(ENOMEM))
        }
        self.path = path
        self.parser = parser
        content = GPXContent(parser: parser, start: start)
    }

    deinit { XML_ParserFree(parser) }

    /// Returns the points that the next block of the file completes, perhaps none; `nil` after the last block.
    ///
    /// - Throws: ``TrackFault`` at damage, after everything before it was returned.
    package func next() throws(TrackFault) -> [TrackPoint]? {
        if let fault { throw fault }
        if isAtEnd { return nil }
        do {
            try readBlock()
        } catch {
            if content.points.isEmpty { throw error }
            fault = error
        }
        return content.takePoints()
    }

    private func readBlock() throws(TrackFault) {
        guard let buffer = XML_GetBuffer(parser, Self.blockSize) else {
            throw damage()
        }
        let count = try file.read(into: buffer, capacity: Int(Self.blockSize)) { line }
        isAtEnd = count == 0
        if bytesRead == 0, let packer = Self.packer(UnsafeRawBufferPointer(start: buffer, count: count)) {
            isAtEnd = true
            throw TrackFault(path: path, line: 1, kind: .packed(packer))
        }
        bytesRead += count
        guard XML_ParseBuffer(parser, Int32(count), isAtEnd ? 1 : 0) == XML_STATUS_OK else { throw damage() }
        // While a token is unfinished, the parser's position is the token's beginning.
        if !isAtEnd, bytesRead - cexpat_offset(parser) > Self.tokenLimit {
            throw TrackFault(path: path, line: line, kind: .tooLong(limit: Self.tokenLimit))
        }
    }

    /// Returns the name of the compressor of a file that begins with `bytes`.
    private static func packer(_ bytes: UnsafeRawBufferPointer) -> String? {
        if bytes.starts(with: [0x1F, 0x8B]) { return "gzip" }
        return bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) ? "zip" : nil
    }

    private var line: Int { cexpat_line(parser) }

    private func damage() -> TrackFault {
        isAtEnd = true
        if let refusal = content.refusal { return TrackFault(path: path, line: refusal.line, kind: refusal.kind) }
        let message = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown error"
        return TrackFault(path: path, line: line, kind: .notWellFormed(message))
    }
}
