import FoundationEssentials

/// Parses URLs as they occur in feeds.
enum FeedAddress {
    /// Returns `text` as an absolute URL, or `nil` unless it is a valid `http` or `https` URL: links with schemes such
    /// as `javascript:` and `file:` are dropped here.
    ///
    /// Characters that RFC 3986 does not allow are percent-encoded. Surrounding whitespace and all control characters
    /// are removed.
    static func resolve(_ text: String, base: String?) -> String? {
        guard text.utf8.count <= FeedLimits.address else { return nil }
        var scalars = text.unicodeScalars
        scalars.removeAll { $0.value < 0x20 || $0.value == 0x7F }
        let address = String(scalars).trimmingBlanks
        guard !address.isEmpty else { return nil }
        let url =
            base.flatMap { URL(string: $0) }.flatMap { URL(string: address, relativeTo: $0) }
            ?? URL(string: address)
        guard let url = url?.absoluteURL, let scheme = url.scheme?.lowercased(),
            scheme == "http" || scheme == "https",
            url.host()?.isEmpty == false, url.absoluteString.utf8.count <= FeedLimits.address
        else { return nil }
        return url.absoluteString
    }
}

extension String {
    /// The string without leading and trailing Unicode whitespace.
    var trimmingBlanks: String {
        let isBlank = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !isBlank($0) }),
            let last = scalars.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(scalars[first...last])
    }
}
