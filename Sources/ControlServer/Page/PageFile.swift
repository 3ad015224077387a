import BackgrounderAPI
import CPageFiles
import FoundationEssentials
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import SystemSupport
import WebSupport

/// A file of the page, as it is sent: compressed or plain, with strong entity tags (RFC 9110, 8.8.3).
struct PageFile: Sendable {
    /// The form that is kept; a compressed file is inflated for the rare reader that wants it plain.
    private enum Form: Sendable {
        case packed(ByteBuffer)
        /// Compressing does not make it smaller.
        case plain(ByteBuffer)
    }

    private let type: String
    private let digest: String
    private let form: Form

    private init(name: String, bytes: [UInt8]) {
        type = Self.types[name.split(separator: ".").last.map(String.init) ?? ""] ?? "application/octet-stream"
        digest = bytes.withUnsafeBytes { SHA256.hexadecimal(SHA256.digest($0).prefix(16)) }
        let packed = Gzip.compress(bytes).flatMap { $0.count < bytes.count ? $0 : nil }
        form = packed.map { .packed(ByteBuffer(bytes: $0)) } ?? .plain(ByteBuffer(bytes: bytes))
    }

    /// Returns the response to `request`: the file, or that the reader's copy is current.
    ///
    /// - Throws: `unavailable` if there is not enough memory.
    func response(to request: Request) throws(WireError) -> Response {
        let isPacked = if case .packed = form { request.acceptsGzip } else { false }
        let tag = "\"\(digest)\(isPacked ? "-gzip" : "")\""
        var headers: HTTPFields = [.eTag: tag, .cacheControl: "no-cache", .vary: "Accept-Encoding"]
        let known = request.headers[.ifNoneMatch]?.split(separator: ",").map(\.trimmed) ?? []
        if known.contains(tag[...]) { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = type
        if isPacked { headers[.contentEncoding] = "gzip" }
        let bytes: ByteBuffer
        switch form {
        case .plain(let plain): bytes = plain
        case .packed(let packed): bytes = isPacked ? packed : try Self.inflated(packed)
        }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: bytes))
    }

    private static func inflated(_ packed: ByteBuffer) throws(WireError) -> ByteBuffer {
        // Tuned: several times the largest file.
        guard var inflation = Inflation(limit: 2 << 20),
            (try? inflation.decompress(Array(packed.readableBytesView))) != nil
        else { throw WireError(.unavailable, "not enough memory", hint: "try again, or accept gzip") }
        return ByteBuffer(bytes: inflation.bytes)
    }

    private static let types = [
        "/": "text/html; charset=utf-8",
        "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "png": "image/png",
        "svg": "image/svg+xml",
        "webmanifest": "application/manifest+json",
    ]

    /// All files by their paths: those in this program, and Leaflet, which Debian's package libjs-leaflet installs.
    ///
    /// Compressing them takes 30 ms, so they are prepared when the first page is opened.
    static let all: [String: PageFile] = {
        var files: [String: PageFile] = [:]
        var count = 0
        for file in UnsafeBufferPointer(start: cpagefiles_all(&count), count: count) {
            let path = String(cString: file.path)
            let bytes = UnsafeBufferPointer(start: file.bytes, count: file.size)
            files[path] = PageFile(name: path, bytes: path.hasSuffix(".js") ? withoutComments(bytes) : Array(bytes))
        }
        for (name, file) in [("leaflet.js", "leaflet.min.js"), ("leaflet.css", "leaflet.css")] {
            guard let bytes = try? Data(contentsOf: URL(filePath: leafletFolder + file)) else { continue }
            files["/leaflet/" + name] = PageFile(name: name, bytes: Array(bytes))
        }
        return files
    }()

    /// Returns a script whose lines of comment are empty, so that the other lines keep their numbers. No line of a text in the page's
    /// scripts begins like a comment.
    private static func withoutComments(_ script: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let newline = UInt8(ascii: "\n")
        return Array(
            script.split(separator: newline, omittingEmptySubsequences: false)
                .map { line -> Slice<UnsafeBufferPointer<UInt8>> in
                    let start = line.drop { $0 == UInt8(ascii: " ") }
                    return ["//", "/*", "*"].contains { start.starts(with: $0.utf8) } ? line.prefix(0) : line
                }
                .joined(separator: [newline])
        )
    }

    private static let leafletFolder = "/usr/share/javascript/leaflet/"
}
