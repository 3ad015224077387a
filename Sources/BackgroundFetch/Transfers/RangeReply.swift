import BackgrounderAPI
import FoundationEssentials
import NIOHTTP1

/// What a reply to a download's request is good for, by its head alone.
enum RangeReply: Hashable {
    /// All of it comes, from the first byte on.
    case whole(total: Int64?, EntityValidator?)
    /// The rest comes, from the byte on that was asked for; or a piece of it, up to the byte before `end`.
    case rest(end: Int64, total: Int64)
    /// All of it is here.
    case complete
    /// What is here is of no use with what the server has now.
    case stale(String)
    case redirect(String?)
    case fault(TransferFault)

    /// - Parameters:
    ///   - offset: the byte from which on it was asked for; 0 when all was.
    ///   - total: what is known of the length from before.
    ///   - validator: of the bytes before `offset`.
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
                self = .fault(.permanent("the server sends the file encoded as \(codings[0]), which was not asked for"))
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
                ? .complete : .stale("the server has no bytes from \(offset) on")
            if offset == 0 { self = .fault(.permanent("the server answers 416")) }
        case 408, 425, 429, 500...599:
            let after = headers.first(name: "Retry-After").flatMap { RetryAfter.duration($0, now: now) }
            self = .fault(.passing("the server answers \(status)", after: after))
        default:
            self = .fault(.permanent("the server answers \(status)"))
        }
    }

    /// Strictly the range that was asked for, of the version that is here.
    private static func rest(
        _ headers: HTTPHeaders,
        _ offset: Int64,
        _ total: Int64?,
        _ validator: EntityValidator?
    ) -> RangeReply {
        guard offset > 0 else { return .fault(.passing("the server sends a part though all was asked for")) }
        let ranges = headers["Content-Range"]
        guard ranges.count == 1, let range = ContentRange(ranges[0]) else {
            return .stale("the server sends a part without saying which")
        }
        guard range.first == offset else {
            return .stale("the server sends the bytes from \(range.first) on, not \(offset)")
        }
        if let total, total != range.total {
            return .stale("the file has \(range.total) bytes now, and had \(total)")
        }
        if let length = length(headers), length != range.last - range.first + 1 {
            return .stale("the server's reply has another length than it says")
        }
        switch validator {
        case .etag(let tag)?:
            guard headers["ETag"] == [tag] else { return .stale("the file is another one now") }
        case .modified(let time)?:
            guard headers["Last-Modified"] == [time] else { return .stale("the file is another one now") }
        case nil: break
        }
        return .rest(end: range.last + 1, total: range.total)
    }

    private static func length(_ headers: HTTPHeaders) -> Int64? {
        headers.first(name: "Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// A strong one: a time only where it is a minute before the reply's own (RFC 9110, 8.8.2.2).
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

/// `bytes 100-199/1000`.
struct ContentRange: Hashable {
    var first: Int64
    var last: Int64
    var total: Int64

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
