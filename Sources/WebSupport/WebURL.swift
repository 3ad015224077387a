import FoundationEssentials

/// An http or https URL with a host.
///
/// It contains no user and no password, so it can be shown, stored and logged.
package struct WebURL: Hashable, Sendable, CustomStringConvertible {
    /// The supported URL schemes.
    package enum Scheme: String, Sendable {
        case http, https

        fileprivate var port: Int { self == .http ? 80 : 443 }
    }

    /// The scheme, host and port of a URL (RFC 6454), to which credentials are bound.
    package struct Origin: Hashable, Sendable {
        package var scheme: Scheme
        /// In lower case; an IPv6 address is in brackets.
        package var host: String
        package var port: Int
    }

    /// Bytes of a URL. Tuned: RFC 9110, 4.1 recommends that servers support at least as many.
    private static let longest = 8000

    package let origin: Origin
    /// The percent-encoded path and query, without the fragment; begins with `/`.
    package let target: String
    private let isDefaultPort: Bool

    /// Parses `text`.
    ///
    /// - Throws: ``WebURLError``, whose message never repeats credentials.
    package init(_ text: String) throws(WebURLError) {
        guard text.utf8.count <= Self.longest else { throw .tooLong }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw .malformed(Self.withoutCredentials(text)) }
        guard let parts = URLComponents(string: text), let name = parts.scheme?.lowercased() else {
            throw .malformed(Self.withoutCredentials(text))
        }
        guard let scheme = Scheme(rawValue: name) else { throw .scheme(name) }
        // Not `percentEncodedHost`, which needs ICU's data: the released service has none.
        guard Self.authority(text).allSatisfy({ $0 < 0x80 }), let host = parts.encodedHost?.lowercased(),
            !host.isEmpty, !host.contains("%"), host != "[]"
        else {
            throw .noHost(Self.withoutCredentials(text))
        }
        guard parts.percentEncodedUser == nil, parts.percentEncodedPassword == nil else { throw .credentials }
        let port = parts.port ?? scheme.port
        guard (1...65_535).contains(port) else { throw .port(port) }
        origin = Origin(scheme: scheme, host: host, port: port)
        isDefaultPort = port == scheme.port
        let path = parts.percentEncodedPath
        target = (path.isEmpty ? "/" : path) + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
    }

    /// Returns the part between `//` and the path, the query or the fragment.
    private static func authority(_ text: String) -> Substring.UTF8View {
        let start = text.utf8.firstIndex(of: UInt8(ascii: "/")) ?? text.utf8.endIndex
        return text.utf8[start...].dropFirst(2).prefix { !"/?#".utf8.contains($0) }
    }

    /// The URL as it is requested and shown.
    package var description: String { "\(origin.scheme.rawValue)://\(authority)\(target)" }

    /// The value of `Host` (RFC 9110, 7.2).
    package var authority: String { "\(origin.host)\(isDefaultPort ? "" : ":\(origin.port)")" }

    /// Resolves `location`, the `Location` of a reply from this URL.
    package func redirected(to location: String) throws(WebURLError) -> WebURL {
        guard location.utf8.count <= Self.longest else { throw .tooLong }
        guard let base = URL(string: description), let url = URL(string: location, relativeTo: base) else {
            throw .malformed(Self.withoutCredentials(location))
        }
        return try WebURL(url.absoluteURL.absoluteString)
    }

    /// Returns the decoded last part of the path.
    ///
    /// - Throws: ``FileNameError`` if it is not a safe name for a file.
    package func fileName() throws(FileNameError) -> String {
        let path = target.prefix { $0 != "?" }
        let last = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let name = Self.percentDecoded(last) else { throw .notText }
        return try FileName.checked(name)
    }

    /// Decodes percent escapes; `nil` if the bytes are not valid UTF-8.
    private static func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16),
                digits.count == 2
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func withoutCredentials(_ text: String) -> String {
        // Compares scalars: an @ and a combining accent form one `Character`, but the @ still ends the credentials.
        let shown = text.unicodeScalars.lastIndex(of: "@").map { "…" + text[$0...] } ?? text
        return shown.count > 200 ? shown.prefix(200) + "…" : shown
    }
}

/// Why a text is not a ``WebURL``.
package enum WebURLError: Error, Hashable, CustomStringConvertible {
    case malformed(String)
    case scheme(String)
    case noHost(String)
    case port(Int)
    case tooLong
    case credentials

    package var description: String {
        switch self {
        case .malformed(let text): "\(text.debugDescription) is not a valid URL"
        case .scheme(let name): "the URL scheme \(name.debugDescription) is neither https nor http"
        case .noHost(let text): "the URL \(text.debugDescription) has no host"
        case .port(let port): "the port \(port) is out of range (1 to 65535)"
        case .credentials:
            "the URL contains a user or a password, which would be shown, stored and logged"
        case .tooLong: "the URL is longer than 8000 bytes"
        }
    }
}
