import Foundation
package import Synchronization

/// A file on a ``TestWebServer`` with changing versions and the faults of real servers.
///
///     let file = TestWebFile(size: 1 << 20, seed: 1)
///     file.behaviour.withLock { $0.cuts = 1000...9000 }
///     server.on("/map.bin", file.script)
package final class TestWebFile: Sendable {
    package enum Validators: Sendable {
        case etag, weakTag, date, recentDate, none
    }

    package struct Behaviour: Sendable {
        package var validators = Validators.etag
        /// Bytes per second, or `nil` for no limit.
        package var rate: Int?
        /// Breaks the connection after a random number of body bytes from this range.
        package var cuts: ClosedRange<Int>?
        /// The maximum number of such breaks.
        package var mostCuts = Int.max
        /// The number of requests after which the version changes.
        package var changesEach: Int?
        package var ignoresRange = false
        /// Treats any `If-Range` as a match.
        package var ignoresIfRange = false
        /// Stalls after this many bytes of a body and keeps the connection open.
        package var stallsAfter: Int?
        /// The number of extra bytes after the content. The reply is then chunked.
        package var floods = 0
        /// Added to the first byte in `Content-Range`.
        package var rangeLie = 0
        /// Added to the whole length in `Content-Range`.
        package var totalLie = 0
        package var headers: [String: String] = [:]
        /// Sends the body chunked, without a length.
        package var isChunked = false

        package init() {}
    }

    package let size: Int
    private let seed: UInt64
    package let behaviour = Mutex(Behaviour())

    private struct State {
        var version = 0
        var requests = 0
        var cuts = 0
        var sent = 0
        var broken = 0
        var random: SeededGenerator
    }

    private let state: Mutex<State>

    package init(size: Int, seed: UInt64, _ change: (inout Behaviour) -> Void = { _ in }) {
        (self.size, self.seed) = (size, seed)
        state = Mutex(State(random: SeededGenerator(seed: seed)))
        behaviour.withLock { change(&$0) }
    }

    /// Bytes of bodies that reached at least the peer's kernel.
    package var sent: Int { state.withLock { $0.sent } }
    /// Connections that broke before a body was complete.
    package var broken: Int { state.withLock { $0.broken } }
    package var requests: Int { state.withLock { $0.requests } }
    /// Connections that the server itself broke.
    package var cuts: Int { state.withLock { $0.cuts } }
    /// The number of versions so far.
    package var versions: Int { state.withLock { $0.version + 1 } }

    /// Replaces the file by its next version.
    package func change() { state.withLock { $0.version += 1 } }

    package func content(_ version: Int? = nil) -> [UInt8] {
        let version = version ?? state.withLock { $0.version }
        var random = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(version))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + 8)
        while bytes.count < size { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
        bytes.removeLast(bytes.count - size)
        return bytes
    }

    /// Returns whether `bytes` are a complete version of the file.
    package func isVersion(_ bytes: [UInt8]) -> Bool {
        (0..<versions).contains { content($0) == bytes }
    }

    package var script: TestWebServer.Script {
        { [self] request, connection in try serve(request, connection) }
    }

    private func serve(_ request: TestWebRequest, _ connection: TestWebConnection) throws {
        let behaviour = behaviour.withLock { $0 }
        let (version, cut) = state.withLock { state in
            state.requests += 1
            if let each = behaviour.changesEach, state.requests > 1, (state.requests - 1).isMultiple(of: each) {
                state.version += 1
            }
            var cut: Int?
            if let cuts = behaviour.cuts, state.cuts < behaviour.mostCuts {
                state.cuts += 1
                cut = Int.random(in: cuts, using: &state.random)
            }
            return (state.version, cut)
        }
        let tag = "\"\(seed)-\(version)\""
        let day = Date(timeIntervalSince1970: 1_700_000_000 + Double(version) * 86_400)
        let modified = Self.time(day)
        var headers = behaviour.headers
        headers["Date"] = Self.time(Date())
        let matches: Bool
        switch behaviour.validators {
        case .etag: (headers["ETag"], matches) = (tag, request.headers["if-range"] == tag)
        case .weakTag: (headers["ETag"], matches) = ("W/" + tag, false)
        case .date: (headers["Last-Modified"], matches) = (modified, request.headers["if-range"] == modified)
        case .recentDate: (headers["Last-Modified"], matches) = (Self.time(Date()), false)
        case .none: matches = false
        }
        let mayRange = request.headers["if-range"] == nil || matches || behaviour.ignoresIfRange
        let start = behaviour.ignoresRange || !mayRange ? 0 : request.rangeStart
        guard start < max(1, size) else {
            try connection.reply(416, headers.merging(["Content-Range": "bytes */\(size)"]) { $1 })
            return
        }
        let isPart = start > 0
        if isPart {
            headers["Content-Range"] =
                "bytes \(start + behaviour.rangeLie)-\(size - 1)/\(size + behaviour.totalLie)"
        }
        let isChunked = behaviour.isChunked || behaviour.floods > 0
        if isChunked {
            headers["Transfer-Encoding"] = "chunked"
        } else {
            headers["Content-Length"] = "\(size - start)"
        }
        var isWhole = false
        var (before, head) = (connection.sent, connection.written)
        defer {
            let given = connection.sent - before
            let arrived = isWhole ? given : max(0, min(given, connection.acknowledged - head))
            state.withLock { state in
                state.sent += arrived
                if !isWhole { state.broken += 1 }
            }
        }
        try connection.sendHead(isPart ? 206 : 200, headers)
        (before, head) = (connection.sent, connection.written)
        var body = content(version)[start...]
        let end = min(cut ?? .max, behaviour.stallsAfter ?? .max)
        if end < body.count { body = body.prefix(end) }
        let flood = [UInt8](repeating: 0x46, count: behaviour.floods)
        for bytes in isChunked ? [Array(body), flood] : [Array(body)] where !bytes.isEmpty {
            if isChunked { try connection.sendFrame("\(String(bytes.count, radix: 16))\r\n") }
            if let rate = behaviour.rate {
                try connection.send(bytes, bytesPerSecond: rate)
            } else {
                try connection.send(bytes)
            }
            if isChunked { try connection.sendFrame("\r\n") }
        }
        if behaviour.stallsAfter.map({ $0 < size - start }) == true {
            connection.wait(milliseconds: 60_000)
            throw SystemCallFailure("stall", ETIMEDOUT)
        }
        if let cut, cut < size - start { return connection.close() }
        if isChunked { try connection.sendFrame("0\r\n\r\n") }
        isWhole = true
    }

    private static func time(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }
}
