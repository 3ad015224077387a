package import BackgrounderAPI
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Playlists
import ServiceLifecycle
import SystemSupport

extension ControlRouter {
    /// Adds a handler for `route` that returns items, which are sent page by page: neither the memory nor the time of this thread grows
    /// with the queue.
    ///
    /// - Parameter readerLimit: how long a reader may take for a page before its connection is closed.
    package mutating func onItems<Body>(
        _ route: Route<Body, [PlayerItem]>,
        query: Set<String> = [],
        readerLimit: Duration = .seconds(30),
        _ handler:
            @escaping @Sendable (RouteRequest<Body>) async throws -> any RandomAccessCollection<PlayerItem> & Sendable
    ) {
        let status = HTTPResponse.Status(code: route.status)
        on(route.method, route.path, access: route.access, query: query) { request, context in
            let body = Body.keys.isEmpty && route.method != .post ? nil : try await RawBodyReader.read(request)
            let items = try await handler(RouteRequest(request: request, context: context, body: body))
            let channel = context.channel
            let response = ResponseBody { writer in
                var pages = ItemPages(items)
                while let page = pages.next() {
                    let limit = channel.scheduleClose(after: readerLimit)
                    defer { limit.cancel() }
                    try await writer.write(page)
                    try Task.checkGracefulShutdown()
                }
                try await writer.finish(nil)
            }
            return Response(status: status, headers: [.contentType: "application/json"], body: response)
        }
    }
}

/// A JSON array in pieces.
struct ItemPages {
    /// Tuned: about 100 KiB, which take a millisecond.
    private static let size = 500

    /// Writes the items from a position on and returns how many.
    private let write: (Int, inout TextBuffer) -> Int
    private let count: Int
    private var position = 0
    private var isAtEnd = false
    private var text = TextBuffer()

    init(_ items: any RandomAccessCollection<PlayerItem>) {
        self.init(of: items)
    }

    private init(of items: some RandomAccessCollection<PlayerItem>) {
        count = items.count
        write = { position, text in
            let first = items.index(items.startIndex, offsetBy: position)
            var written = 0
            for item in items[first...].prefix(Self.size) {
                if position + written > 0 { text.append(",") }
                text.append(json: item)
                written += 1
            }
            return written
        }
    }

    /// Returns the next piece; `nil` after the last.
    mutating func next() -> ByteBuffer? {
        guard !isAtEnd else { return nil }
        text.removeAll()
        if position == 0 { text.append("[") }
        position += write(position, &text)
        if position == count {
            text.append("]")
            isAtEnd = true
        }
        return ByteBuffer(bytes: text.bytes)
    }
}
