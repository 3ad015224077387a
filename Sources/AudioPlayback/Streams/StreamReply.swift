import MediaFiles
import NIOHTTP1

/// The head of a server's reply to a request for sound.
struct StreamReply {
    /// Why a stream cannot be played, and whether another attempt may help.
    enum Refusal: Error, Equatable {
        case forGood(String)
        case forNow(String)
    }

    /// Identifies a version of a file, so that two versions are never mixed.
    struct Version: Equatable {
        var size: Int?
        /// A strong entity tag, or else the time of the last change.
        var validator: String?

        /// Returns whether both may be the same version.
        fileprivate func mayBe(_ other: Version) -> Bool {
            (size == nil || other.size == nil || size == other.size)
                && (validator == nil || other.validator == nil || validator == other.validator)
        }
    }

    let isLive: Bool
    /// Bytes before the requested ones that the server sends nevertheless.
    let surplus: Int
    let version: Version
    /// The bytes of sound between blocks of metadata; nil without them.
    let metadataInterval: Int?
    /// The name of a live stream.
    let station: String?

    /// Reads the reply to a request for the bytes from `offset` on.
    ///
    /// - Parameter known: the version that the bytes before `offset` belong to.
    init(status: Int, _ headers: HTTPHeaders, offset: Int, known: Version?) throws(Refusal) {
        try Self.check(status, headers)
        let length = headers.first(name: "Content-Length").flatMap { Int($0) }
        let isICY = headers.contains { $0.name.lowercased().hasPrefix("icy-") }
        let tag = headers.first(name: "ETag").flatMap { $0.hasPrefix("\"") && $0.utf8.count <= 1024 ? $0 : nil }
        let validator = tag ?? headers.first(name: "Last-Modified").flatMap { $0.utf8.count <= 100 ? $0 : nil }
        isLive = isICY || length == nil && validator == nil && headers["Accept-Ranges"].first != "bytes"
        metadataInterval = try Self.interval(headers)
        station = headers.first(name: "icy-name").flatMap(Metadata.line)
        if status == 206 {
            guard let range = headers.first(name: "Content-Range").flatMap(Self.range), range.start == offset else {
                throw .forGood("the server sent other bytes than requested")
            }
            version = Version(size: range.size, validator: validator)
            surplus = 0
        } else {
            version = Version(size: isLive ? nil : length, validator: validator)
            surplus = isLive ? 0 : offset
        }
        if !isLive, let known, !known.mayBe(version) { throw .forGood("the file changed on the server") }
    }

    private static func check(_ status: Int, _ headers: HTTPHeaders) throws(Refusal) {
        switch status {
        case 200, 206: break
        case 401, 403: throw .forGood("the server denied access (\(status))")
        case 404: throw .forGood("the server has nothing at this URL (404)")
        case 410: throw .forGood("the server says it is gone for good (410)")
        case 416: throw .forGood("the file on the server is shorter than it was")
        case 408, 429, 500...599: throw .forNow("the server answered with status \(status)")
        default: throw .forGood("the server answered with status \(status)")
        }
        let type = (headers.first(name: "Content-Type") ?? "").prefix { $0 != ";" }.lowercased()
        let isList = type.hasSuffix("mpegurl") || type.hasSuffix("x-scpls")
        if isList { throw .forGood("the server sent a playlist (\(printable(type))); queue an address in it") }
        let isOther = ["text/", "image/", "application/json", "application/xml", "application/xhtml"]
            .contains { type.hasPrefix($0) }
        if isOther { throw .forGood("the server sent \(printable(type)) instead of sound") }
        let codings = headers["Content-Encoding"].filter { $0.lowercased() != "identity" }
        if let coding = codings.first { throw .forGood("the sound has the content coding \(printable(coding))") }
    }

    private static func interval(_ headers: HTTPHeaders) throws(Refusal) -> Int? {
        guard let text = headers.first(name: "icy-metaint") else { return nil }
        guard let interval = Int(text.filter { $0 != " " }), interval >= 0 else {
            throw .forGood("the server sent an invalid icy-metaint: \(printable(text))")
        }
        return interval == 0 ? nil : interval
    }

    /// Parses `bytes FIRST-LAST/SIZE`; the size may be `*`.
    private static func range(_ text: String) -> (start: Int, size: Int?)? {
        guard text.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Int(parts[0].prefix { $0 != "-" }), start >= 0 else { return nil }
        let size = Int(parts[1])
        guard parts[1] == "*" || size ?? -1 > start else { return nil }
        return (start, size)
    }
}
