package import NIOCore

/// Whether a network address is on the Internet or local.
package enum AddressScope: String, Codable, Hashable, Sendable {
    /// The Internet.
    case global
    /// This machine and its own networks: loopback, private, link-local, shared (CGNAT) and unspecified addresses.
    case local

    /// The local IPv4 blocks of RFC 6890, with their prefix lengths.
    private static let localBlocks: [(network: UInt32, prefix: UInt32)] = [
        (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16), (0xAC10_0000, 12),
        (0xC0A8_0000, 16),
    ]

    /// Creates the scope of an IPv4 or IPv6 address. A Unix domain socket is local.
    package init(_ address: SocketAddress) {
        // sockaddr_in: family, port, address (ip(7)). sockaddr_in6: family, port, flow label, address (ipv6(7)).
        switch address {
        case .v4(let address): self.init(version4: withUnsafeBytes(of: address.address) { Self.number($0[4..<8]) })
        case .v6(let address): self.init(version6: withUnsafeBytes(of: address.address) { Array($0[8..<24]) })
        case .unixDomainSocket: self = .local
        }
    }

    private init(version4 address: UInt32) {
        let isLocal = Self.localBlocks.contains { address >> (32 - $0.prefix) == $0.network >> (32 - $0.prefix) }
        self = isLocal ? .local : .global
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    /// - Parameter bytes: the 16 bytes of the address.
    private init(version6 bytes: [UInt8]) {
        let embedded = Self.number(bytes[12...])
        switch (bytes[0], bytes[1]) {
        // fc00::/7, fe80::/10 and the deprecated fec0::/10.
        case (0xFC...0xFD, _), (0xFE, 0x80...0xFF): self = .local
        // Embedded IPv4 addresses: mapped (::ffff:0:0/96), compatible (::/96, which includes :: and ::1), translated
        // (64:ff9b::/96).
        case (0, 0)
        where bytes[..<10].allSatisfy { $0 == 0 } && (bytes[10...11] == [0xFF, 0xFF] || bytes[10...11] == [0, 0]):
            self.init(version4: embedded)
        case (0, 0x64) where bytes[2...3] == [0xFF, 0x9B] && bytes[4..<12].allSatisfy { $0 == 0 }:
            self.init(version4: embedded)
        default: self = .global
        }
    }
}

/// The error for a local address that a server on the Internet pointed to.
package struct LocalAddressError: Error, CustomStringConvertible {
    package var address: String

    /// Creates the error for `address`.
    package init(_ address: SocketAddress) { self.address = address.ipAddress ?? "\(address)" }

    package var description: String { Self.reason("the address \(address)") }

    /// Returns the error message for a refused server.
    ///
    /// - Parameter what: the server's address, or its name.
    package static func reason(_ what: String) -> String {
        "a server on the Internet points to \(what), which is on this machine or a private network; add the host to fetch.allowPrivate to allow it"
    }
}

/// A channel handler that refuses to connect to a local address, before anything is sent there.
///
/// It checks the address that the channel connects to, so DNS rebinding cannot bypass it.
package final class LocalAddressGate: ChannelOutboundHandler {
    /// The outbound data, passed through unchanged.
    package typealias OutboundIn = IOData

    /// Creates a gate for one channel.
    package init() {}

    /// Connects to `address`, or fails with ``LocalAddressError``. The channel's event loop.
    package func connect(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?) {
        guard AddressScope(address) == .local else { return context.connect(to: address, promise: promise) }
        promise?.fail(LocalAddressError(address))
        context.close(promise: nil)
    }
}
