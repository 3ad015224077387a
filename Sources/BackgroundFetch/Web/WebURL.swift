import FoundationEssentials

/// An address that this program may ask: http or https, with a host.
///
/// It holds no user and no password, so it can be shown, stored and logged.
package struct WebURL: Hashable, Sendable, CustomStringConvertible {
    package enum Scheme: String, Sendable {
        case http, https

        fileprivate var port: Int { self == .http ? 80 : 443 }
    }

    /// Whom credentials are for (RFC 6454).
    package struct Origin: Hashable, Sendable {
        package var scheme: Scheme
        package var host: String
        package var port: Int
    }

    private static let longest = 8000  // judgement: what servers take (RFC 9110, 4.1)

    package let origin: Origin
    /// Percent-encoded, from the `/` on, with the query and without the fragment.
    package let target: String
    private let isDefaultPort: Bool

    /// - Throws: ``WebURLError``, which says nothing of credentials.
    package init(_ text: String) throws(WebURLError) {
        guard text.utf8.count <= Self.longest else { throw .tooLong }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw .malformed(Self.withoutCredentials(text)) }
        guard let parts = URLComponents(string: text), let name = parts.scheme?.lowercased() else {
            throw .malformed(Self.withoutCredentials(text))
        }
        guard let scheme = Scheme(rawValue: name) else { throw .scheme(name) }
        guard let host = parts.percentEncodedHost?.lowercased(), !host.isEmpty, !host.contains("%"), host != "[]" else {
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

    /// What is asked for, and what is shown.
    package var description: String { "\(origin.scheme.rawValue)://\(authority)\(target)" }

    /// The value of `Host` (RFC 9110, 7.2).
    var authority: String { "\(origin.host)\(isDefaultPort ? "" : ":\(origin.port)")" }

    /// Where `location` of this address' reply leads.
    package func redirected(to location: String) throws(WebURLError) -> WebURL {
        guard location.utf8.count <= Self.longest else { throw .tooLong }
        guard let base = URL(string: description), let url = URL(string: location, relativeTo: base) else {
            throw .malformed(Self.withoutCredentials(location))
        }
        return try WebURL(url.absoluteURL.absoluteString)
    }

    /// The last part of the path, decoded, where a file may have it for a name.
    package func fileName() throws(FileNameError) -> String {
        let path = target.prefix { $0 != "?" }
        let last = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let name = Self.percentDecoded(last) else { throw .notText }
        return try FileName.checked(name)
    }

    /// `nil` where the bytes are no UTF-8.
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
        // An @ with an accent behind it is one character, and still ends them.
        let shown = text.unicodeScalars.lastIndex(of: "@").map { "…" + text[$0...] } ?? text
        return shown.count > 200 ? shown.prefix(200) + "…" : shown
    }
}

package enum WebURLError: Error, Hashable, CustomStringConvertible {
    case malformed(String)
    case scheme(String)
    case noHost(String)
    case port(Int)
    case tooLong
    case credentials

    package var description: String {
        switch self {
        case .malformed(let text): "\(text.debugDescription) is no URL"
        case .scheme(let name): "a URL of \(name.debugDescription) is not taken, only https and http"
        case .noHost(let text): "the URL \(text.debugDescription) has no host"
        case .port(let port): "\(port) is no port: from 1 to 65535"
        case .credentials:
            "a URL with a user or password in it is not taken, since URLs are shown, stored and logged"
        case .tooLong: "the URL is too long: 8000 bytes are the most"
        }
    }
}
