import BackgrounderAPI
import HTTPTypes
import HummingbirdCore

/// Refuses what a web page makes a browser send: a page may reach a service on its reader's machine, by a name that leads there
/// (DNS rebinding) or by a form.
enum BrowserGuard {
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
        if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" {
            throw WireError(.forbidden, "a page of another site may not use this service", hint: noPages)
        }
        if hasBody(request), !isJSON(request.headers[.contentType] ?? "") {
            throw WireError(
                .unsupportedMediaType,
                "the body is not declared as JSON",
                hint: "send Content-Type: application/json"
            )
        }
    }

    /// Whether a browser sent it: a page can make one send a GET that needs no permission.
    static func isFromBrowser(_ request: Request) -> Bool {
        request.headers.contains { field in
            field.name == .origin || field.name == .referer || field.name.canonicalName.hasPrefix("sec-fetch-")
                || field.name == .userAgent && field.value.hasPrefix("Mozilla/")
        }
    }

    private static let noPages = "call it from a program and not from a web page"

    /// Names that lead to this machine alone, and names without a dot, which programs make up for a Unix socket. None at all is
    /// what an HTTP/1.0 client sends.
    private static func isLocal(_ authority: String) -> Bool {
        var host = authority[...]
        if let port = host.lastIndex(of: ":"), host[host.index(after: port)...].allSatisfy(\.isASCIIDigit) {
            host = host[..<port]
        }
        if host == "127.0.0.1" || host == "[::1]" { return true }
        return host.utf8.allSatisfy { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "@") }
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
