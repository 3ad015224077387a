/// What an entry of a playlist says about where its file is: a path, or a `file:` URL (RFC 8089).
enum PlaylistLocation {
    /// Why it leads to no file of this machine.
    enum Failure: Error, CustomStringConvertible {
        case otherScheme(String)
        case otherHost(String)
        case badEscape
        case noPath

        var description: String {
            switch self {
            case .otherScheme(let scheme): "\(scheme) addresses cannot be played, only files"
            case .otherHost(let host): "the file is on another machine, \(host)"
            case .badEscape: "a % in an address is followed by two hexadecimal digits, which give UTF-8"
            case .noPath: "the address has no path"
            }
        }
    }

    /// The absolute path; a relative one begins in `folder`.
    static func path(_ location: Substring, from folder: String) throws(Failure) -> String {
        guard let scheme = scheme(of: location) else { return RuntimePaths.absolute(String(location), from: folder) }
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

    /// In lower case; none where it is a path, in which a colon may stand.
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
