import BackgrounderAPI
import HTTPTypes
import HummingbirdCore
import SystemSupport

/// Rejects requests that a web page may have caused: a page can reach a service on the machine of its reader through a name that
/// resolves to it (DNS rebinding), or through a form.
enum BrowserGuard {
    /// Checks the headers of a request.
    ///
    /// - Throws: ``WireError`` with `forbidden` for a foreign `Host`, `Origin` or `Sec-Fetch-Site`, and with `unsupportedMediaType`
    ///   for a body that is not declared as JSON.
    static func check(_ request: Request) throws(WireError) {
        let host = request.head.authority ?? ""
        guard isLocal(host) else {
            throw WireError(
                .forbidden,
                "the host \(host.debugDescription) is not this service",
                hint: "send Host: localhost"
            )
        }
        if let origin = request.headers[.origin] {
            guard !host.isEmpty, origin.lowercased() == "http://\(host.lowercased())" else {
                throw WireError(
                    .forbidden,
                    "the origin \(origin.debugDescription) may not use this service",
                    hint: noPages
                )
            }
        }
        try checkSite(request)
        try checkBody(request)
    }

    /// Checks that no page of another site caused the request.
    static func checkSite(_ request: Request) throws(WireError) {
        guard let site = request.headers[.secFetchSite], site != "same-origin", site != "none" else { return }
        throw WireError(.forbidden, "a page of another site may not use this service", hint: noPages)
    }

    /// Checks that a body is declared as JSON, which a form cannot do.
    static func checkBody(_ request: Request) throws(WireError) {
        guard hasBody(request), !isJSON(request.headers[.contentType] ?? "") else { return }
        throw WireError(
            .unsupportedMediaType,
            "the body is not declared as JSON",
            hint: "send Content-Type: application/json"
        )
    }

    /// Returns whether a browser sent the request: a page can cause a GET without permission.
    static func isFromBrowser(_ request: Request) -> Bool {
        request.headers.contains { field in
            field.name == .origin || field.name == .referer || field.name.canonicalName.hasPrefix("sec-fetch-")
                || field.name == .userAgent && field.value.hasPrefix("Mozilla/")
        }
    }

    private static let noPages = "call it from a program, not from a web page"

    /// Returns whether `authority` names only this machine. Programs invent names without a dot for a Unix socket; an HTTP/1.0 client
    /// sends none.
    private static func isLocal(_ authority: String) -> Bool {
        let host = hostName(authority)
        if host == "127.0.0.1" || host == "[::1]" { return true }
        return host.utf8.allSatisfy { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "@") }
    }

    /// Returns `authority` without its port.
    static func hostName(_ authority: String) -> String {
        guard let colon = authority.lastIndex(of: ":") else { return authority }
        let port = authority[authority.index(after: colon)...]
        return port.allSatisfy(\.isASCIIDigit) ? String(authority[..<colon]) : authority
    }

    private static func hasBody(_ request: Request) -> Bool {
        request.headers[.transferEncoding] != nil || request.headers[.contentLength].map { $0 != "0" } ?? false
    }

    private static func isJSON(_ mediaType: String) -> Bool {
        let type = mediaType.prefix { $0 != ";" }
        return type.trimmed.lowercased() == "application/json"
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}

extension HTTPField.Name {
    fileprivate static var secFetchSite: Self { Self("Sec-Fetch-Site") ?? .origin }
}
