import CPageFiles
import FoundationEssentials
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import SystemSupport
import WebSupport

/// A file of the page, as it is sent: plain and compressed, with strong entity tags (RFC 9110, 8.8.3).
struct PageFile: Sendable {
    private struct Form: Sendable {
        let bytes: ByteBuffer
        let tag: String
    }

    private let type: String
    private let plain: Form
    /// `nil` if compressing does not make the file smaller.
    private let packed: Form?

    private init(name: String, bytes: [UInt8]) {
        type = Self.types[name.split(separator: ".").last.map(String.init) ?? ""] ?? "application/octet-stream"
        let digest = bytes.withUnsafeBytes { SHA256.hexadecimal(SHA256.digest($0).prefix(16)) }
        plain = Form(bytes: ByteBuffer(bytes: bytes), tag: "\"\(digest)\"")
        packed = Gzip.compress(bytes).flatMap {
            $0.count < bytes.count ? Form(bytes: ByteBuffer(bytes: $0), tag: "\"\(digest)-gzip\"") : nil
        }
    }

    /// Returns the response to `request`: the file, or that the reader's copy is current.
    func response(to request: Request) -> Response {
        let form = request.acceptsGzip ? packed ?? plain : plain
        var headers: HTTPFields = [.eTag: form.tag, .cacheControl: "no-cache", .vary: "Accept-Encoding"]
        let known = request.headers[.ifNoneMatch]?.split(separator: ",").map(\.trimmed) ?? []
        if known.contains(form.tag[...]) { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = type
        if form.tag != plain.tag { headers[.contentEncoding] = "gzip" }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: form.bytes))
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
        for name in ["leaflet.js", "leaflet.css"] {
            guard let bytes = try? Data(contentsOf: URL(filePath: leafletFolder + name)) else { continue }
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
