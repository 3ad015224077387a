/// A source of fixes: a gpsd or a file.
///
///     let source = try LocationSource("gpx:tracks/walk.gpx?rate=10", relativeTo: "/srv/bus")
package enum LocationSource: Hashable, Sendable, CustomStringConvertible {
    case gpsd(GPSDAddress)
    /// A GPX file by its absolute path.
    case gpx(path: String, rate: ReplayRate)
    /// A file of gpsd's JSON lines by its absolute path.
    case gpsdLog(path: String, rate: ReplayRate)

    /// The error for a source that ended without a fix; `nil` if it never ends.
    var emptiness: String? {
        switch self {
        case .gpsd: nil
        case .gpx(let path, _): "\(path) has no track points (trkpt); name a GPX file with a recorded track"
        case .gpsdLog(let path, _): "\(path) has no fix (TPV); name a file that --record or `gpspipe -w` wrote"
        }
    }

    /// Parses `gpsd://host[:port][/dev/...]`, `gpx:PATH[?rate=N|max]` or `gpsd-log:PATH[?rate=N|max]`.
    ///
    /// - Parameter directory: the folder that a relative path starts from. Whether the file exists is not checked.
    /// - Throws: ``LocationSourceError``.
    package init(_ text: String, relativeTo directory: String) throws(LocationSourceError) {
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw LocationSourceError(text: text, reason: .controlCharacter)
        }
        if text.hasPrefix("gpsd://") {
            self = .gpsd(try GPSDAddress(text))
        } else if text.hasPrefix("gpx:") {
            let (path, rate) = try Self.file(text, after: "gpx:", relativeTo: directory)
            self = .gpx(path: path, rate: rate)
        } else if text.hasPrefix("gpsd-log:") {
            let (path, rate) = try Self.file(text, after: "gpsd-log:", relativeTo: directory)
            self = .gpsdLog(path: path, rate: rate)
        } else {
            throw LocationSourceError(text: text, reason: .unknownKind)
        }
    }

    /// The text that parses to this source.
    package var description: String {
        switch self {
        case .gpsd(let address): address.description
        case .gpx(let path, let rate): "gpx:\(path)\(Self.query(rate, after: path))"
        case .gpsdLog(let path, let rate): "gpsd-log:\(path)\(Self.query(rate, after: path))"
        }
    }

    /// The file that is replayed; `nil` for a live source.
    package var replayedFile: String? {
        switch self {
        case .gpsd: nil
        case .gpx(let path, _), .gpsdLog(let path, _): path
        }
    }

    /// Whether it is a running gpsd rather than a replay.
    var isLive: Bool {
        if case .gpsd = self { true } else { false }
    }

    /// Identifies the source, without the rate of a replay.
    var identity: String {
        switch self {
        case .gpsd(let address): address.description
        case .gpx(let path, _): "gpx:\(path)"
        case .gpsdLog(let path, _): "gpsd-log:\(path)"
        }
    }

    private static func query(_ rate: ReplayRate, after path: String) -> String {
        rate == .times(1) && !path.contains("?") ? "" : "?rate=\(rate)"
    }

    private static func file(
        _ text: String,
        after prefix: String,
        relativeTo directory: String
    ) throws(LocationSourceError) -> (path: String, rate: ReplayRate) {
        var path = text.dropFirst(prefix.count)
        var rate = ReplayRate.times(1)
        if let mark = path.lastIndex(of: "?") {
            let query = path[path.index(after: mark)...]
            guard query.hasPrefix("rate="), let value = ReplayRate(String(query.dropFirst("rate=".count))) else {
                throw LocationSourceError(text: text, reason: .badRate)
            }
            rate = value
            path = path[..<mark]
        }
        guard !path.isEmpty else { throw LocationSourceError(text: text, reason: .noPath) }
        if path.hasPrefix("/") { return (String(path), rate) }
        return (directory.hasSuffix("/") ? "\(directory)\(path)" : "\(directory)/\(path)", rate)
    }
}

/// A location source that cannot be parsed. Its description says what is allowed.
package struct LocationSourceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault of the text.
    package enum Reason: Hashable, Sendable {
        case unknownKind
        case controlCharacter
        case badHost
        case badPort(String)
        case badDevice
        case noPath
        case badRate
    }

    /// The text that was parsed.
    package var text: String
    package var reason: Reason

    /// The forms of a source.
    package static let allowed = "gpsd://HOST[:PORT][/dev/...], gpx:PATH[?rate=N|max] or gpsd-log:PATH[?rate=N|max]"

    package var description: String {
        let fault =
            switch reason {
            case .unknownKind: "is neither a gpsd nor a file to replay"
            case .controlCharacter: "contains a control character"
            case .badHost: "has no valid host (an IPv6 address needs brackets)"
            case .badPort(let port): "has the invalid port \(port) (1 to 65535)"
            case .badDevice: "names a device with a quote or a backslash"
            case .noPath: "does not name a file"
            case .badRate: "has an invalid rate (?rate=N with N from 0.001 to 1000000, or ?rate=max)"
            }
        let shown = String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "?" : $0 })
        )
        return "location source \"\(shown)\" \(fault); use \(Self.allowed)"
    }
}
