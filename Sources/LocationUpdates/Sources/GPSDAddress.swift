/// The address of a gpsd, and optionally one of its receivers.
package struct GPSDAddress: Codable, Hashable, Sendable, CustomStringConvertible {
    package static let defaultPort = 2947
    /// A host name or an address; an IPv6 address without brackets.
    package var host: String
    package var port: Int
    /// The path of one receiver, as gpsd names it; `nil` for all.
    package var device: String?

    /// Creates an address from its parts, which are not checked.
    package init(host: String, port: Int = Self.defaultPort, device: String? = nil) {
        self.host = host
        self.port = port
        self.device = device
    }

    package var description: String {
        "gpsd://\(host.contains(":") ? "[\(host)]" : host):\(port)\(device ?? "")"
    }

    /// Whether the connection stays on this machine.
    package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

    init(_ text: String) throws(LocationSourceError) {
        func failure(_ reason: LocationSourceError.Reason) -> LocationSourceError {
            LocationSourceError(text: text, reason: reason)
        }
        var remainder = text.dropFirst("gpsd://".count)
        if let slash = remainder.firstIndex(of: "/") {
            let path = remainder[slash...]
            // The path is sent inside a JSON string.
            guard !path.contains("\""), !path.contains("\\") else { throw failure(.badDevice) }
            device = path == "/" ? nil : String(path)
            remainder = remainder[..<slash]
        }
        if remainder.hasPrefix("[") {
            guard let end = remainder.firstIndex(of: "]") else { throw failure(.badHost) }
            host = String(remainder[remainder.index(after: remainder.startIndex)..<end])
            remainder = remainder[remainder.index(after: end)...]
            guard remainder.isEmpty || remainder.hasPrefix(":") else { throw failure(.badHost) }
        } else {
            let end = remainder.firstIndex(of: ":") ?? remainder.endIndex
            host = String(remainder[..<end])
            remainder = remainder[end...]
        }
        guard !host.isEmpty, !host.contains(where: { " []@?#".contains($0) }) else { throw failure(.badHost) }
        port = Self.defaultPort
        if !remainder.isEmpty {
            let digits = remainder.dropFirst()
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int(digits),
                (1...65_535).contains(value)
            else { throw failure(.badPort(String(digits))) }
            port = value
        }
    }
}
