package import BackgrounderAPI
package import FoundationEssentials
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

extension ControlRouter {
    /// Answers `GET path` with foreign bytes, as `application/octet-stream`, so that no client interprets them.
    ///
    /// - Parameter readerLimit: how long a reader may take for a piece before its connection is closed.
    package mutating func onContent(
        _ path: String,
        readerLimit: Duration = .seconds(30),
        _ handler: @escaping @Sendable (RouteRequest<Empty>) async throws -> Data
    ) {
        on(.get, path, access: .read, query: []) { request, context in
            let bytes = try await handler(RouteRequest(request: request, context: context, body: nil))
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
            return Response(status: .ok, headers: [.contentType: "application/octet-stream"], body: body)
        }
    }

    private static var piece: Int { 1 << 16 }
}
