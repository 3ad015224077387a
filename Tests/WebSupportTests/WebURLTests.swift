import Testing

@testable import WebSupport

/// Valid URLs, their file names and redirects.
@Suite struct WebURLTests {
    @Test(arguments: [
        "", "x", "/etc/passwd", "file:///etc/passwd", "ftp://h/x", "unix:///run/x", "http+unix://%2Frun%2Fx/",
        "http://",
        "http:///x", "http://u@/x", "http://h:0/", "http://h:99999/", "http://h/a b", "http://h/\n", "http://h/\u{0}",
        "http://%41/", "http://ü.example/", "javascript:1", "https://" + String(repeating: "a", count: 9000),
    ])
    func `a URL that is not a web address is refused`(text: String) {
        #expect(throws: WebURLError.self) { try WebURL(text) }
    }

    @Test(arguments: ["user:secret@", "secret@", ":secret@", "@"])
    func `a URL with a user or a password is refused, and the password is not repeated`(userInfo: String) {
        let error = #expect(throws: WebURLError.self) { try WebURL("https://\(userInfo)example.com/") }
        #expect(error.map { !"\($0)".contains("secret") } == true)
    }

    @Test func `a URL is shown as it is requested, and a malformed one without its password`() throws {
        #expect("\(try WebURL("HTTPS://Example.com:443/a/b?c=d#e"))" == "https://example.com/a/b?c=d")
        #expect(try WebURL("http://[::1]:8080").description == "http://[::1]:8080/")
        #expect(!"\(WebURLError.malformed("x"))".contains("secret"))
        for text in ["http://me:secret@:7/ x", "http://me:secret@\u{301}/ x"] {
            let error = #expect(throws: WebURLError.self) { try WebURL(text) }
            #expect(error.map { !"\($0)".contains("secret") } == true)
        }
    }

    @Test(arguments: [
        ("http://h/a/b.txt", "b.txt"), ("http://h/a%20b.txt?x=/y", "a b.txt"), ("http://h/%C3%A4", "ä"),
        ("http://h/%CC%81x", "\u{301}x"),
        ("http://h/" + String(repeating: "a", count: 255), String(repeating: "a", count: 255)),
    ])
    func `the file name is the last component of the path`(url: String, name: String) throws {
        #expect(try WebURL(url).fileName() == name)
    }

    @Test(arguments: [
        ("http://h", FileNameError.empty), ("http://h/a/", .empty), ("http://h/a/..%2f..%2fetc%2fpasswd", .slash),
        ("http://h/%2e%2e", .leadingDot), ("http://h/.ssh", .leadingDot), ("http://h/..", .leadingDot),
        ("http://h/.%CC%81x", .leadingDot),
        ("http://h/a%00b", .controlCharacter), ("http://h/a%0ab", .controlCharacter),
        ("http://h/a%1b%5b2J", .controlCharacter), ("http://h/%e2%80%aegpj.exe", .controlCharacter),
        ("http://h/%ff%fe", .notText), ("http://h/" + String(repeating: "a", count: 256), .tooLong(256)),
    ])
    func `an invalid file name is refused after decoding`(url: String, error: FileNameError) throws {
        let url = try WebURL(url)
        #expect(throws: error) { try url.fileName() }
    }

    @Test func `each hop of a redirect is checked`() throws {
        let policy = RedirectPolicy(plainHosts: ["plain.example", "Other.example:8080"])
        let url = try WebURL("https://a.example/x/y")
        #expect(try policy.next(from: url, location: "../z?q", hop: 1).description == "https://a.example/z?q")
        #expect(throws: RedirectError.forbidden(.credentials)) {
            try policy.next(from: url, location: "https://x:y@a.example/", hop: 1)
        }
        #expect(throws: RedirectError.tooMany) { try policy.next(from: url, location: "/", hop: 6) }
        #expect(throws: RedirectError.nowhere) { try policy.next(from: url, location: nil, hop: 1) }
        #expect(throws: RedirectError.downgrade(host: "plain.example")) {
            try policy.next(from: url, location: "http://plain.example/", hop: 1)
        }
        for location in ["file:///etc/passwd", "ftp://a.example/", "http+unix://%2Frun/x"] {
            #expect(throws: RedirectError.self) { try policy.next(from: url, location: location, hop: 1) }
        }
        let plain = try WebURL("http://plain.example/")
        #expect(try policy.next(from: plain, location: "http://other.example:8080/", hop: 1).origin.port == 8080)
        #expect(throws: RedirectError.plain(host: "other.example")) {
            try policy.next(from: plain, location: "http://other.example/", hop: 1)
        }
        #expect(throws: RedirectError.plain(host: "127.0.0.1")) { try policy.check(WebURL("http://127.0.0.1/")) }
    }

    @Test func `a fetch without credentials may use http on this machine`() throws {
        let policy = RedirectPolicy(plainHosts: [])
        for text in ["http://127.0.0.1:80/", "http://127.9.9.9/", "http://localhost/", "http://[::1]/"] {
            try policy.forFetch(hasCredentials: false).check(WebURL(text))
            #expect(throws: RedirectError.self) { try policy.forFetch(hasCredentials: true).check(WebURL(text)) }
            #expect(throws: RedirectError.self) { try policy.check(WebURL(text)) }
        }
        for text in ["http://127.example/", "http://localhost.example/", "http://10.0.0.1/", "http://[::2]/"] {
            #expect(throws: RedirectError.self) {
                try policy.forFetch(hasCredentials: false).check(WebURL(text))
            }
        }
    }
}
