/// The way of one request: to the address that it is for, and on where redirects lead.
///
///     var route = try WebRoute(to: url, policy, credentials)
///     … ask route.url, with route.fields …
///     try route.follow(location, from: peer)
struct WebRoute: Sendable {
    private let policy: RedirectPolicy
    private(set) var url: WebURL
    /// Header fields of the credentials; none from the first redirect to another origin on.
    private(set) var fields: [WebCredentials.Field]
    private var hops = 0
    /// Whether the user named the address, or a local server, which sees the local networks anyway.
    private var isTrusted: Bool

    /// - Parameter namer: who named `url`.
    init(
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
    var mayBeLocal: Bool { isTrusted || policy.allowsLocal(url) }

    /// - Parameters:
    ///   - location: the value of the reply's `Location`.
    ///   - peer: of the server that replied.
    mutating func follow(_ location: String?, from peer: AddressScope) throws(RedirectError) {
        hops += 1
        let next = try policy.next(from: url, location: location, hop: hops)
        if next.origin != url.origin { fields = [] }
        isTrusted = peer == .local
        url = next
    }
}

/// Who named the address that a request begins with.
package enum URLNamer: String, Codable, Hashable, Sendable {
    case user
    /// A server of the Internet, in what it sent.
    case server
}
