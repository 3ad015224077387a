import BackgrounderAPI
import SystemSupport

/// Resolves the location in a playlist entry: a path, a `file:` URL (RFC 8089), or an http or https URL.
enum PlaylistLocation {
    /// Why a location cannot be played.
    enum Failure: Error, CustomStringConvertible {
        case otherScheme(String)
        case otherHost(String)
        case badEscape
        case noPath

        var description: String {
            switch self {
            case .otherScheme(let scheme): "cannot play \(scheme) addresses, only files, https and http"
            case .otherHost(let host): "the file is on another machine, \(host)"
            case .badEscape: "invalid escape; write % and two hexadecimal digits that form UTF-8"
            case .noPath: "the address has no path"
            }
        }
    }

    /// Returns the absolute path, or the URL as it is; a relative path starts from `folder`.
    static func path(_ location: Substring, from folder: String) throws(Failure) -> String {
        guard let scheme = scheme(of: location) else { return RuntimePaths.absolute(String(location), from: folder) }
        if StreamAddress.schemes.contains(scheme) { return String(location.trimmed) }
        guard scheme == "file" else { throw .otherScheme(scheme) }
        var rest = location.dropFirst(5)
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let host = rest.prefix { $0 != "/" }
            guard host.isEmpty || host.lowercased() == "localhost" else { throw .otherHost(String(host)) }
            rest = rest.dropFirst(host.count)
        }
        guard rest.hasPrefix("/") else { throw .noPath }
        return RuntimePaths.absolute(try decoded(rest), from: folder)
    }

    /// Returns the scheme in lower case; `nil` for a path, which may contain a colon.
    private static func scheme(of location: Substring) -> String? {
        let scheme = location.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        guard scheme.first?.isLetter == true else { return nil }
        let rest = location.dropFirst(scheme.count)
        guard rest.hasPrefix("://") || (rest.hasPrefix(":/") && scheme.lowercased() == "file") else { return nil }
        return scheme.lowercased()
    }

    private static func decoded(_ text: Substring) throws(Failure) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let digits = Substring(rest.prefix(2)).utf8.count == 2 ? Substring(rest.prefix(2)) : nil,
                digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16), value != 0
            else { throw .badEscape }
            bytes.append(value)
            rest.removeFirst(2)
        }
        guard let path = String(validating: bytes, as: UTF8.self) else { throw .badEscape }
        return path
    }
}
