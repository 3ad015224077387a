/// Where a request may go, at first and at each redirect.
package struct RedirectPolicy: Hashable, Sendable {
    /// To whom http without TLS may be spoken.
    package enum PlainHosts: Hashable, Sendable {
        case any
        /// `host` or `host:port`.
        case only(Set<String>)
    }

    /// judgement: as many as it takes from a short link to a mirror
    package static let mostHops = 5

    package var plainHosts: PlainHosts
    /// `host` or `host:port`: servers that may be led to though their addresses are local.
    package var localHosts: Set<String>

    package init(plainHosts: PlainHosts, localHosts: Set<String> = []) {
        (self.plainHosts, self.localHosts) = (plainHosts, localHosts)
    }

    /// - Throws: ``RedirectError/plain(host:)`` for http to a host that was not allowed.
    package func check(_ url: WebURL) throws(RedirectError) {
        guard url.origin.scheme == .http, case .only(let hosts) = plainHosts else { return }
        guard url.origin.isOne(of: hosts) else { throw .plain(host: url.origin.host) }
    }

    /// Whether ``localHosts`` names the server of `url`.
    package func allowsLocal(_ url: WebURL) -> Bool { url.origin.isOne(of: localHosts) }

    /// Whether `text` can name one of ``PlainHosts/only(_:)``: a host, with or without a port; an address of IPv6 also without brackets.
    package static func isPlainHost(_ text: String) -> Bool {
        let isAddress = !text.hasPrefix("[") && text.utf8.count { $0 == UInt8(ascii: ":") } > 1
        return !text.contains { "/\\?#@*".contains($0) }
            && (try? WebURL("http://\(isAddress ? "[\(text)]" : text)")) != nil
    }

    /// Where the reply of `url` leads.
    ///
    /// - Parameters:
    ///   - location: the value of its `Location`.
    ///   - hop: how many redirects there were, with this one.
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

    /// Whether a reply of this status leads elsewhere.
    package static func isRedirect(status: UInt) -> Bool { [301, 302, 303, 307, 308].contains(status) }
}

extension WebURL.Origin {
    /// - Parameter hosts: each `host` or `host:port`; an address of IPv6 also without brackets.
    fileprivate func isOne(of hosts: Set<String>) -> Bool {
        guard !hosts.isEmpty else { return false }
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let names = [host, bare, "\(host):\(port)"]
        return hosts.contains { names.contains($0.lowercased()) }
    }
}

package enum RedirectError: Error, Hashable, CustomStringConvertible {
    case plain(host: String)
    case downgrade(host: String)
    case forbidden(WebURLError)
    case nowhere
    case tooMany

    package var description: String {
        switch self {
        case .plain(let host): "http without encryption to \(host) is not allowed"
        case .downgrade(let host): "the server redirects from https to http, at \(host)"
        case .forbidden(let error): "the server redirects to where nothing may go: \(error)"
        case .nowhere: "the server redirects without saying where to"
        case .tooMany: "the server redirects more than \(RedirectPolicy.mostHops) times"
        }
    }
}
