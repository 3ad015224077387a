/// The address of an MQTT broker: `mqtt://HOST[:PORT]`, or `mqtts://` for TLS.
package struct BrokerAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or an IP address, without the brackets of IPv6.
    package var host: String
    package var port: UInt16
    package var isSecure: Bool

    /// Parses an address.
    ///
    /// - Throws: ``BrokerAddressError`` for anything other than a scheme, a host and an optional port.
    package init(_ text: String) throws(BrokerAddressError) {
        // Checked first, with an error that omits the text, which may contain a password.
        guard !text.contains("@") else { throw .userInformation }
        guard let separator = text.firstRange(of: "://") else { throw .scheme(text) }
        switch text[..<separator.lowerBound].lowercased() {
        case "mqtt": isSecure = false
        case "mqtts": isSecure = true
        default: throw .scheme(text)
        }
        var rest = text[separator.upperBound...]
        if rest.hasSuffix("/") { rest.removeLast() }
        let portText: Substring?
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { throw .host(text) }
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            // An interface name may follow % (RFC 4007).
            let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts[0].contains(":"),
                parts[0].allSatisfy({ ($0.isASCII && $0.isHexDigit) || $0 == ":" || $0 == "." }),
                parts.count == 1 || Self.isName(parts[1])
            else { throw .host(text) }
            let tail = rest[rest.index(after: end)...]
            guard tail.isEmpty || tail.hasPrefix(":") else { throw .host(text) }
            portText = tail.isEmpty ? nil : tail.dropFirst()
        } else {
            let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            host = String(parts[0])
            portText = parts.count == 2 ? parts[1] : nil
            // DNS names have at most 253 bytes (RFC 1035).
            guard Self.isName(host), (1...253).contains(host.utf8.count), !host.hasPrefix("-"), !host.hasPrefix(".")
            else {
                throw .host(text)
            }
        }
        // The ports that IANA registered for MQTT.
        guard let portText else {
            port = isSecure ? 8883 : 1883
            return
        }
        guard portText.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(portText), port > 0 else {
            throw .port(text)
        }
        self.port = port
    }

    private static func isName(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    package var description: String {
        "\(isSecure ? "mqtts" : "mqtt")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

/// Why a text is not a ``BrokerAddress``.
package enum BrokerAddressError: Error, Hashable, CustomStringConvertible {
    case scheme(String)
    case userInformation
    case host(String)
    case port(String)

    package var description: String {
        switch self {
        case .scheme(let text):
            "\(text.debugDescription) is not a broker address; use mqtt://HOST[:PORT] or mqtts://HOST[:PORT]"
        case .userInformation:
            "the URL of a broker must not contain a user and password, which others could read; use --credentials FILE"
        case .host(let text): "\(text.debugDescription) has no valid host; use mqtt://HOST[:PORT], without a path"
        case .port(let text): "\(text.debugDescription) has no valid port; use 1 to 65535"
        }
    }
}
