/// An address on which a server listens for TCP connections: `HOST:PORT` or `[IPV6]:PORT`.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    package let host: String
    package let port: Int

    /// Parses an address; `nil` if `text` is not a valid one.
    package init?(_ text: String) {
        let parts: (host: Substring, port: Substring)
        if text.hasPrefix("["), let end = text.lastIndex(of: "]") {
            let rest = text[text.index(after: end)...]
            guard rest.first == ":" else { return nil }
            parts = (text[text.index(after: text.startIndex)..<end], rest.dropFirst())
            guard parts.host.contains(":") else { return nil }
        } else {
            guard let colon = text.lastIndex(of: ":") else { return nil }
            parts = (text[..<colon], text[text.index(after: colon)...])
            guard !parts.host.contains(":") else { return nil }
        }
        guard !parts.host.isEmpty, parts.host.utf8.allSatisfy(Self.isAllowed),
            parts.port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(parts.port),
            (1...65_535).contains(port)
        else { return nil }
        host = String(parts.host)
        self.port = port
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || (0x30...0x39).contains(byte)
            || ".-:%_".utf8.contains(byte)
    }

    /// Whether only this machine can connect. Any name other than `localhost` counts as reachable by others.
    package var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
