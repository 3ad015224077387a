/// The way of one request: to the address that it is for, and on where redirects lead.
///
///     var route = try WebRoute(to: url, policy, credentials)
///     … ask route.url, with route.fields …
///     try route.follow(location)
struct WebRoute: Sendable {
    private let policy: RedirectPolicy
    private(set) var url: WebURL
    /// Header fields of the credentials; none from the first redirect to another origin on.
    private(set) var fields: [WebCredentials.Field]
    private var hops = 0

    init(to url: WebURL, _ policy: RedirectPolicy, _ credentials: WebCredentials?) throws(RedirectError) {
        try policy.check(url)
        (self.policy, self.url, fields) = (policy, url, credentials?.fields ?? [])
    }

    /// - Parameter location: the value of the reply's `Location`.
    mutating func follow(_ location: String?) throws(RedirectError) {
        hops += 1
        let next = try policy.next(from: url, location: location, hop: hops)
        if next.origin != url.origin { fields = [] }
        url = next
    }
}
