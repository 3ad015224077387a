import FoundationEssentials

/// Addresses as feeds write them.
enum FeedAddress {
    /// `text` as an absolute address of the web; `nil` where it is none, so that no `javascript:` or `file:` gets further.
    ///
    /// What RFC 3986 does not allow is percent-encoded, blanks around it and line breaks inside are dropped.
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
    var trimmingBlanks: String {
        let isBlank = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !isBlank($0) }),
            let last = scalars.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(scalars[first...last])
    }
}
