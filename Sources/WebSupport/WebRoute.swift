/// The path of one request through redirects.
///
///     var route = try WebRoute(to: url, policy, credentials)
///     … request route.url with the headers route.fields …
///     try route.follow(location, from: peer)   // after a redirect
package struct WebRoute: Sendable {
    private let policy: RedirectPolicy
    package private(set) var url: WebURL
    /// The header fields of the credentials; empty after the first redirect to another origin, for good.
    package private(set) var fields: [WebCredentials.Field]
    private var hops = 0
    /// Whether the current URL came from the user or from a local server, which can reach the local networks anyway.
    private var isTrusted: Bool

    /// Creates a route that starts at `url`.
    ///
    /// - Parameter namer: the origin of `url`; a server on the Internet must not point to local addresses.
    /// - Throws: ``RedirectError`` if `policy` does not allow `url`.
    package init(
        to url: WebURL,
        _ policy: RedirectPolicy,
        _ credentials: WebCredentials?,
        namedBy namer: URLNamer = .user
    ) throws(RedirectError) {
        try policy.check(url)
        (self.policy, self.url, fields) = (policy, url, credentials?.fields ?? [])
        isTrusted = namer == .user
    }

    /// Whether the server may have a local address.
    package var mayBeLocal: Bool { isTrusted || policy.allowsLocal(url) }

    /// Follows a redirect, and drops the credentials if it leads to another origin.
    ///
    /// - Parameters:
    ///   - location: the value of the reply's `Location` header.
    ///   - peer: the scope of the server that replied.
    package mutating func follow(_ location: String?, from peer: AddressScope) throws(RedirectError) {
        hops += 1
        let next = try policy.next(from: url, location: location, hop: hops)
        if next.origin != url.origin { fields = [] }
        isTrusted = peer == .local
        url = next
    }
}

/// Where the first URL of a request came from.
package enum URLNamer: String, Codable, Hashable, Sendable {
    /// The user.
    case user
    /// A server on the Internet, in a document that it sent.
    case server
}
