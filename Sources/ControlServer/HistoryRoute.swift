package import BackgrounderAPI
package import FoundationEssentials
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import ServiceLifecycle
import SystemSupport

/// A part of the history.
package struct HistorySelection: Hashable, Sendable {
    /// The first time, inclusive.
    package var since: Date?
    /// The last time, exclusive.
    package var until: Date?
    /// The id of the only trip.
    package var trip: Int?
}

extension ControlRouter {
    /// Serves `/v1/track/history` as a stream of `pages`, in constant memory.
    ///
    /// - Parameters:
    ///   - readerLimit: how long a reader may take for a page before its connection is closed.
    ///   - pages: may throw a ``WireError`` before the first page.
    package mutating func serveHistory(
        readerLimit: Duration = .seconds(30),
        _ pages: @escaping @Sendable (HistorySelection) async throws -> AsyncThrowingStream<[Location], any Error>
    ) {
        on(.get, Routes.historyPath, access: .read, query: ["since", "until", "trip", "format"]) { request, context in
            let query = request.uri.queryParameters
            var selection = HistorySelection()
            selection.since = try query["since"].map { try Self.time("since", String($0)) }
            selection.until = try query["until"].map { try Self.time("until", String($0)) }
            if let text = query["trip"] {
                guard let trip = Int(text) else {
                    throw WireError(.invalid, "trip=\(text) is not a trip id", hint: "use a whole number")
                }
                selection.trip = trip
            }
            let name = query["format"].map(String.init) ?? TrackFormat.json.rawValue
            guard let format = TrackFormat(rawValue: name) else {
                let all = TrackFormat.allCases.map(\.rawValue).joined(separator: ", ")
                throw WireError(.invalid, "format=\(name) is not a format", hint: "use one of \(all)")
            }
            let stream = try await pages(selection)
            let channel = context.channel
            let body = ResponseBody { writer in
                var encoder = format.makeEncoder()
                try await writer.write(ByteBuffer(string: encoder.begin()))
                while let page = try await stream.nextUntilShutdown() {
                    var text = TextBuffer()
                    for location in page { encoder.append(location, index: nil, to: &text) }
                    let limit = channel.scheduleClose(after: readerLimit)
                    defer { limit.cancel() }
                    try await writer.write(ByteBuffer(bytes: text.bytes))
                }
                try Task.checkGracefulShutdown()
                try await writer.write(ByteBuffer(string: encoder.end()))
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: [.contentType: format.mediaType], body: body)
        }
    }

    fileprivate static func time(_ name: String, _ text: String) throws(WireError) -> Date {
        guard let date = ISO8601.date(text) else {
            throw WireError(
                .invalid,
                "\(name)=\(text) is not a valid time",
                hint: "use ISO 8601, such as 2026-11-21T06:55:49Z"
            )
        }
        return date
    }
}

extension RouteRequest {
    /// Returns the parameter `name` as a time; `nil` if it is absent.
    ///
    /// - Throws: ``WireError`` with `invalid` if it is not a time.
    package func time(_ name: String) throws(WireError) -> Date? {
        guard let text = query(name) else { return nil }
        return try ControlRouter.time(name, text)
    }
}
