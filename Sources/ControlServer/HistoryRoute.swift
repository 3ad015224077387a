package import BackgrounderAPI
package import FoundationEssentials
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import ServiceLifecycle

extension ControlRouter {
    /// Serves `/v1/track/history` as a stream of `pages`, in constant memory.
    ///
    /// - Parameter readerLimit: how long a reader may take for a page before its connection is closed.
    package mutating func serveHistory(
        readerLimit: Duration = .seconds(30),
        _ pages: @escaping @Sendable (_ since: Date?, _ until: Date?) -> AsyncThrowingStream<[Location], any Error>
    ) {
        on(.get, Routes.historyPath, query: ["since", "until", "format"]) { request, context in
            let query = request.uri.queryParameters
            let since = try Self.time("since", in: query)
            let until = try Self.time("until", in: query)
            let name = query["format"].map(String.init) ?? TrackFormat.json.rawValue
            guard let format = TrackFormat(rawValue: name) else {
                let all = TrackFormat.allCases.map(\.rawValue).joined(separator: ", ")
                throw WireError(.invalid, "format=\(name) is none", hint: "one of \(all)")
            }
            let channel = context.channel
            let body = ResponseBody { writer in
                var encoder = format.makeEncoder()
                try await writer.write(ByteBuffer(string: encoder.begin()))
                for try await page in pages(since, until).cancelOnGracefulShutdown() {
                    var buffer = ByteBuffer()
                    for location in page { buffer.writeString(encoder.append(location)) }
                    // A write to a reader that does not read ends in no other way.
                    let limit = channel.eventLoop.scheduleTask(in: TimeAmount(readerLimit)) {
                        channel.close(promise: nil)
                    }
                    defer { limit.cancel() }
                    try await writer.write(buffer)
                }
                // What is not all must not look like it: the response breaks off.
                if Task.isShuttingDownGracefully { throw CancellationError() }
                try await writer.write(ByteBuffer(string: encoder.end()))
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: [.contentType: format.mediaType], body: body)
        }
    }

    private static func time(_ name: String, in query: Parameters) throws(WireError) -> Date? {
        guard let text = query[Substring(name)] else { return nil }
        guard let date = ISO8601.date(text) else {
            throw WireError(.invalid, "\(name)=\(text) is no time", hint: "ISO 8601, such as 2026-11-21T06:55:49Z")
        }
        return date
    }
}
