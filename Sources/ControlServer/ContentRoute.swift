package import BackgrounderAPI
package import FoundationEssentials
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

/// Bytes that a route returns as they are.
package struct Content: Sendable {
    let bytes: Data
    let type: String

    /// Creates content that no client should interpret.
    package init(_ bytes: Data) {
        (self.bytes, type) = (bytes, "application/octet-stream")
    }

    /// Creates content of the service itself.
    package init(_ bytes: Data, type: String) { (self.bytes, self.type) = (bytes, type) }

    /// Creates an image. Only images without scripts keep their type; an unknown type is recognised by the first bytes.
    package init(image bytes: Data, type: String? = nil) {
        let type = type.map { $0 == "image/jpg" ? "image/jpeg" : $0.lowercased() } ?? Self.imageType(of: bytes)
        self.bytes = bytes
        self.type = Self.images.contains(type) ? type : Self.imageType(of: bytes)
    }

    private static let images: Set = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"]

    private static func imageType(of bytes: Data) -> String {
        let signatures: [([UInt8], String)] = [
            ([0x89, 0x50, 0x4E, 0x47], "image/png"), ([0xFF, 0xD8, 0xFF], "image/jpeg"),
            (Array("GIF8".utf8), "image/gif"), (Array("RIFF".utf8), "image/webp"), (Array("BM".utf8), "image/bmp"),
        ]
        return signatures.first { bytes.starts(with: $0.0) }?.1 ?? "application/octet-stream"
    }
}

extension ControlRouter {
    /// Answers `GET path` with bytes, or 204 if there are none.
    ///
    /// - Parameter readerLimit: how long a reader may take for a piece before its connection is closed.
    package mutating func onContent(
        _ path: String,
        query: Set<String> = [],
        readerLimit: Duration = .seconds(30),
        _ handler: @escaping @Sendable (RouteRequest<Empty>) async throws -> Content?
    ) {
        on(.get, path, access: .read, query: query) { request, context in
            let routeRequest = try RouteRequest<Empty>(request: request, context: context, body: nil)
            guard let content = try await handler(routeRequest) else { return Response(status: .noContent) }
            let bytes = content.bytes
            let channel = context.channel
            let body = ResponseBody(contentLength: bytes.count) { writer in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let limit = channel.scheduleClose(after: readerLimit)
                    defer { limit.cancel() }
                    try await writer.write(ByteBuffer(bytes: rest.prefix(Self.piece)))
                    rest = rest.dropFirst(Self.piece)
                }
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: [.contentType: content.type], body: body)
        }
    }

    private static var piece: Int { 1 << 16 }
}
