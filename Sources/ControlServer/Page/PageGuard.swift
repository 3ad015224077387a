import BackgrounderAPI
import HTTPTypes
import HummingbirdCore

/// Rejects requests over TCP that another page may have caused, and restricts what the page may do.
///
/// docs/security.md explains the rules.
struct PageGuard: Sendable {
    /// The host names of this service, in lower case; an IPv6 address is in brackets.
    let hosts: Set<String>
    let isEncrypted: Bool
    /// The origin of online tiles.
    let tilesOrigin: String?

    /// Checks the headers of a request.
    ///
    /// - Throws: ``WireError`` with `misdirected` for a foreign `Host`, which is how a name that an attacker controls reaches this machine
    ///   (DNS rebinding), with `forbidden` for a foreign `Origin` or `Sec-Fetch-Site`, and with `unsupportedMediaType` for a body that is
    ///   not declared as JSON.
    func check(_ request: Request) throws(WireError) {
        let authority = request.head.authority?.lowercased() ?? ""
        guard hosts.contains(BrowserGuard.hostName(authority)) else {
            throw WireError(
                .misdirected,
                "the host \(authority.debugDescription) is not this service",
                hint: "use the link that `backgrounder open` prints; web.hosts lists the names for the network"
            )
        }
        let own = (isEncrypted ? "https://" : "http://") + authority
        if let origin = request.headers[.origin], origin.lowercased() != own {
            throw WireError(.forbidden, "the origin \(origin.debugDescription) may not use this service")
        }
        try BrowserGuard.checkSite(request)
        try BrowserGuard.checkBody(request)
    }

    /// Adds the headers that restrict the page to `response`.
    func secure(_ response: inout Response) {
        let images = ["'self'", "blob:", tilesOrigin].compactMap(\.self).joined(separator: " ")
        response.headers[.contentSecurityPolicy] = """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src \(images); connect-src 'self'; \
            manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
            require-trusted-types-for 'script'; trusted-types leaflet
            """
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "no-referrer"
        response.headers[.frameOptions] = "DENY"
        response.headers[.openerPolicy] = "same-origin"
        response.headers[.resourcePolicy] = "same-origin"
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
    }
}

extension HTTPField.Name {
    fileprivate static var referrerPolicy: Self { Self("Referrer-Policy") ?? .server }
    fileprivate static var frameOptions: Self { Self("X-Frame-Options") ?? .server }
    fileprivate static var openerPolicy: Self { Self("Cross-Origin-Opener-Policy") ?? .server }
    fileprivate static var resourcePolicy: Self { Self("Cross-Origin-Resource-Policy") ?? .server }
}
