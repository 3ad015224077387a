import BackgrounderAPI
import FoundationEssentials
import NIOHTTP1
import WebSupport

/// The meaning of a reply to a download request, as determined from its head.
enum RangeReply: Hashable {
    /// The whole file follows, from the first byte.
    case whole(total: Int64?, EntityValidator?)
    /// The file follows from the requested offset up to, but not including, `end`.
    case rest(end: Int64, total: Int64)
    /// The part file is complete.
    case complete
    /// The part file cannot be continued with the server's current version.
    case stale(String)
    case redirect(String?)
    case fault(TransferFault)

    /// Interprets the head of a reply.
    ///
    /// - Parameters:
    ///   - offset: the requested offset; 0 if the whole file was requested.
    ///   - total: the length of the file, if it is known from an earlier reply.
    ///   - validator: the validator of the bytes before `offset`.
    init(
        status: UInt,
        headers: HTTPHeaders,
        offset: Int64,
        total: Int64?,
        validator: EntityValidator?,
        now: Date
    ) {
        if RedirectPolicy.isRedirect(status: status) {
            self = .redirect(headers.first(name: "Location"))
            return
        }
        switch status {
        case 200, 206:
            let codings = headers[canonicalForm: "Content-Encoding"].filter { $0.lowercased() != "identity" }
            guard codings.isEmpty else {
                self = .fault(.permanent("the server sends the file encoded as \(codings[0]), which was not requested"))
                return
            }
            self =
                status == 200
                ? .whole(total: Self.length(headers), Self.validator(headers, now: now))
                : Self.rest(headers, offset, total, validator)
        case 416:
            let range = headers.first(name: "Content-Range").map { $0.split(separator: "/") }
            self =
                range?.count == 2 && offset > 0 && offset == total && Int64(range?[1] ?? "") == offset
                ? .complete : .stale("the server has no bytes at offset \(offset)")
            if offset == 0 { self = .fault(.permanent("the server answered with status 416")) }
        case 408, 425, 429, 500...599:
            let after = headers.first(name: "Retry-After").flatMap { RetryAfter.duration($0, now: now) }
            self = .fault(.passing("the server answered with status \(status)", after: after))
        default:
            self = .fault(.permanent("the server answered with status \(status)"))
        }
    }

    /// Accepts exactly the requested range of the version in the part file.
    private static func rest(
        _ headers: HTTPHeaders,
        _ offset: Int64,
        _ total: Int64?,
        _ validator: EntityValidator?
    ) -> RangeReply {
        guard offset > 0 else { return .fault(.passing("the server sends a part, but the whole file was requested")) }
        let ranges = headers["Content-Range"]
        guard ranges.count == 1, let range = ContentRange(ranges[0]) else {
            return .stale("the server sends a part without a valid Content-Range")
        }
        guard range.first == offset else {
            return .stale("the server sends the bytes from offset \(range.first), not \(offset)")
        }
        if let total, total != range.total {
            return .stale("the size of the file changed from \(total) to \(range.total) bytes")
        }
        if let length = length(headers), length != range.last - range.first + 1 {
            return .stale("the Content-Length of the reply does not match its Content-Range")
        }
        switch validator {
        case .etag(let tag)?:
            guard headers["ETag"] == [tag] else { return .stale("the file has changed") }
        case .modified(let time)?:
            guard headers["Last-Modified"] == [time] else { return .stale("the file has changed") }
        case nil: break
        }
        return .rest(end: range.last + 1, total: range.total)
    }

    private static func length(_ headers: HTTPHeaders) -> Int64? {
        headers.first(name: "Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Returns the strong validator of the reply, if any. A `Last-Modified` is strong only if it is at least a minute
    /// before `Date` (RFC 9110, 8.8.2.2).
    private static func validator(_ headers: HTTPHeaders, now: Date) -> EntityValidator? {
        let tags = headers["ETag"]
        if tags.count == 1, tags[0].hasPrefix("\""), tags[0].hasSuffix("\""), (2...1000).contains(tags[0].utf8.count) {
            return .etag(tags[0])
        }
        let times = headers["Last-Modified"]
        guard times.count == 1, let modified = HTTPDate.date(times[0], now: now),
            let sent = headers.first(name: "Date").flatMap({ HTTPDate.date($0, now: now) }),
            sent.timeIntervalSince(modified) >= 60
        else { return nil }
        return .modified(times[0])
    }
}

/// The value of a `Content-Range` header, such as `bytes 100-199/1000`.
struct ContentRange: Hashable {
    var first: Int64
    /// Inclusive.
    var last: Int64
    var total: Int64

    /// Parses `text`; `nil` if it is invalid or the total is unknown.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            let total = Self.number(parts[1]), first <= last, last < total
        else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}
