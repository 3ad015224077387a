package import BackgrounderAPI
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import ServiceLifecycle

extension ControlRouter {
    /// Serves `/v1/track/import`: each ``ImportProgress`` of `progress` is a line of the response. A client that disconnects ends the
    /// import.
    package mutating func serveImport(
        _ progress: @escaping @Sendable (ImportRequest) async throws -> AsyncThrowingStream<ImportProgress, any Error>
    ) {
        on(.post, Routes.importTrack.path, access: Routes.importTrack.access, query: []) { request, _ in
            let body = try await RawBodyReader.read(request).decode(ImportRequest.self)
            let stream = try await progress(body)
            let lines = ResponseBody { writer in
                for try await progress in stream.cancelOnGracefulShutdown() {
                    try await writer.write(ByteBuffer(string: try JSON.line(progress) + "\n"))
                }
                // An incomplete response must not look complete, so it breaks off.
                if Task.isShuttingDownGracefully { throw CancellationError() }
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: [.contentType: "application/x-ndjson"], body: lines)
        }
    }
}
