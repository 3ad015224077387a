import NIOCore

/// The servers that a request may go to, initially and after each redirect.
package struct RedirectPolicy: Hashable, Sendable {
    /// The maximum number of redirects. Tuned: enough to get from a short link to a mirror.
    package static let mostHops = 5

    /// The hosts that may be contacted by http, without TLS, each written as `host` or `host:port`.
    package var plainHosts: Set<String>
    /// Servers with local addresses that a server on the Internet may point to, each written as `host` or `host:port`.
    package var localHosts: Set<String>
    /// The other servers that may be contacted by http.
    private var otherPlainHosts = OtherHosts.none

    private enum OtherHosts { case none, loopback, all }

    /// Creates a policy that allows http to `plainHosts`, and local addresses only for `localHosts`.
    package init(plainHosts: Set<String>, localHosts: Set<String> = []) {
        (self.plainHosts, self.localHosts) = (plainHosts, localHosts)
    }

    /// Returns the policy of a fetch. One without credentials may use http on this machine: no network carries it.
    package func forFetch(hasCredentials: Bool) -> Self {
        var policy = self
        policy.otherPlainHosts = hasCredentials ? .none : .loopback
        return policy
    }

    /// Returns the policy of sound, which carries no secret and may use http on any server.
    package func forSound() -> Self {
        var policy = self
        policy.otherPlainHosts = .all
        return policy
    }

    /// Checks that the scheme of `url` is allowed for its host.
    ///
    /// - Throws: ``RedirectError/plain(host:)`` for http to a host that is not in ``plainHosts``.
    package func check(_ url: WebURL) throws(RedirectError) {
        let isOtherPlain =
            switch otherPlainHosts {
            case .none: false
            case .loopback: url.origin.isLoopback
            case .all: true
            }
        guard url.origin.scheme == .https || isOtherPlain || url.origin.isOne(of: plainHosts) else {
            throw .plain(host: url.origin.host)
        }
    }

    /// Returns whether ``localHosts`` contains the server of `url`.
    package func allowsLocal(_ url: WebURL) -> Bool { url.origin.isOne(of: localHosts) }

    /// Returns whether `text` is valid in ``plainHosts``: a host with or without a port. An IPv6 address needs
    /// no brackets.
    package static func isPlainHost(_ text: String) -> Bool {
        let isAddress = !text.hasPrefix("[") && text.utf8.count { $0 == UInt8(ascii: ":") } > 1
        return !text.contains { "/\\?#@*".contains($0) }
            && (try? WebURL("http://\(isAddress ? "[\(text)]" : text)")) != nil
    }

    /// Returns the target of a redirect from `url`.
    ///
    /// - Parameters:
    ///   - location: the value of the reply's `Location` header.
    ///   - hop: the number of redirects so far, including this one.
    /// - Throws: ``RedirectError`` if the redirect must not be followed.
    package func next(from url: WebURL, location: String?, hop: Int) throws(RedirectError) -> WebURL {
        guard hop <= Self.mostHops else { throw .tooMany }
        guard let location else { throw .nowhere }
        let next: WebURL
        do {
            next = try url.redirected(to: location)
        } catch {
            throw .forbidden(error)
        }
        guard url.origin.scheme == .http || next.origin.scheme == .https else {
            throw .downgrade(host: next.origin.host)
        }
        try check(next)
        return next
    }

    /// Returns whether `status` is a redirect.
    package static func isRedirect(status: UInt) -> Bool { [301, 302, 303, 307, 308].contains(status) }
}

extension WebURL.Origin {
    /// Whether the host is this machine (RFC 6761, 6.3 and RFC 6890).
    package var isLoopback: Bool {
        ["localhost", "[::1]"].contains(host)
            || host.hasPrefix("127.") && (try? SocketAddress(ipAddress: host, port: 0)) != nil
    }

    /// Returns whether `hosts` contains this server.
    ///
    /// - Parameter hosts: each written as `host` or `host:port`; an IPv6 address needs no brackets.
    fileprivate func isOne(of hosts: Set<String>) -> Bool {
        guard !hosts.isEmpty else { return false }
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let names = [host, bare, "\(host):\(port)"]
        return hosts.contains { names.contains($0.lowercased()) }
    }
}

/// Why a URL or a redirect is not followed.
package enum RedirectError: Error, Hashable, CustomStringConvertible {
    case plain(host: String)
    case downgrade(host: String)
    case forbidden(WebURLError)
    case nowhere
    case tooMany

    package var description: String {
        switch self {
        case .plain(let host):
            "unencrypted http to \(host) is not allowed; use https, or add \(host) to transfers.allowHTTP"
        case .downgrade(let host): "the server redirects from https to unencrypted http on \(host)"
        case .forbidden(let error): "cannot follow the server's redirect: \(error)"
        case .nowhere: "the server redirects without a Location header"
        case .tooMany: "the server redirects more than \(RedirectPolicy.mostHops) times"
        }
    }
}
