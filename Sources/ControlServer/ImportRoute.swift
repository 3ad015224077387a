package import BackgrounderAPI
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import ServiceLifecycle

extension ControlRouter {
    /// Serves `/v1/track/import`: each ``ImportProgress`` of `progress` is a line of the response. A client that disconnects ends the
    /// import.
    ///
    /// - Parameter readerLimit: how long a reader may take for a line before its connection is closed, which ends the import.
    package mutating func serveImport(
        readerLimit: Duration = .seconds(30),
        _ progress: @escaping @Sendable (ImportRequest) async throws -> AsyncThrowingStream<ImportProgress, any Error>
    ) {
        on(.post, Routes.importTrack.path, access: Routes.importTrack.access, query: []) { request, context in
            let body = try await RawBodyReader.read(request).decode(ImportRequest.self)
            let stream = try await progress(body)
            let channel = context.channel
            let lines = ResponseBody { writer in
                while let progress = try await stream.nextUntilShutdown() {
                    let line = ByteBuffer(string: try JSON.line(progress) + "\n")
                    let limit = channel.scheduleClose(after: readerLimit)
                    defer { limit.cancel() }
                    try await writer.write(line)
                }
                try Task.checkGracefulShutdown()
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: [.contentType: "application/x-ndjson"], body: lines)
        }
    }
}
