import WebSupport

/// The address of online map tiles, with `{z}`, `{x}` and `{y}` for the zoom level, the column and the row.
struct TileAddress: Sendable {
    let template: String
    /// Scheme, host and port.
    let origin: String

    /// Checks an address; `nil` if it is not valid.
    init?(_ template: String) {
        var address = template
        for name in ["{z}", "{x}", "{y}"] {
            guard let range = address.firstRange(of: name) else { return nil }
            address.replaceSubrange(range, with: "0")
        }
        guard let url = try? WebURL(address), !url.authority.contains(where: "{};, '\"".contains) else { return nil }
        (self.template, origin) = (template, "\(url.origin.scheme.rawValue)://\(url.authority)")
    }
}

/// A name of `web.hosts`.
enum PageHost {
    /// Returns whether `text` is a name, an IPv4 address, or an IPv6 address in brackets, without a port.
    static func isValid(_ text: String) -> Bool {
        if text.hasPrefix("["), text.hasSuffix("]") {
            return text.dropFirst().dropLast().utf8.allSatisfy { Self.isHexadecimal($0) || $0 == UInt8(ascii: ":") }
        }
        return !text.isEmpty && text.utf8.count <= 253
            && text.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || (0x30...0x39).contains(byte)
                    || ".-_".utf8.contains(byte)
            }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
    }
}
