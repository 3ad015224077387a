/// Addresses of sound on the network, which stand in the queue in place of paths.
package enum StreamAddress {
    /// The supported schemes.
    package static let schemes = ["http", "https"]

    /// Returns whether `text` is written as an address with a scheme, such as `https://…` or `ftp://…`, and not as a path.
    package static func isAddress(_ text: some StringProtocol) -> Bool { scheme(of: text) != nil }

    /// Returns whether `text` is an address with a supported scheme.
    package static func isSupported(_ text: some StringProtocol) -> Bool {
        scheme(of: text).map(schemes.contains) ?? false
    }

    /// Returns the scheme in lower case; nil for a path.
    private static func scheme(of text: some StringProtocol) -> String? {
        guard let first = text.utf8.first, first | 0x20 >= 0x61, first | 0x20 <= 0x7A else { return nil }
        let scheme = text.utf8.prefix { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "+-.".utf8.contains(byte)
        }
        guard text.utf8.dropFirst(scheme.count).starts(with: "://".utf8) else { return nil }
        return String(decoding: scheme, as: UTF8.self).lowercased()
    }
}

extension PlayerItem {
    /// Whether the item comes from the network.
    package var isStream: Bool { StreamAddress.isSupported(path) }
}
