import Testing
import WebSupport

/// The servers that sound may come from.
@Suite struct SoundPolicyTests {
    private let policy = RedirectPolicy(plainHosts: [])

    @Test func `sound may use http on any server, and other requests may not`() throws {
        let url = try WebURL("http://radio.example:8000/live")
        #expect(throws: RedirectError.plain(host: "radio.example")) { try policy.check(url) }
        try policy.forSound().check(url)
        #expect(throws: RedirectError.plain(host: "radio.example")) {
            try policy.forSound().forFetch(hasCredentials: true).check(url)
        }
    }

    @Test func `sound is not redirected from https to http`() throws {
        var route = try WebRoute(to: WebURL("https://radio.example/live"), policy.forSound(), nil)
        #expect(throws: RedirectError.downgrade(host: "other.example")) {
            try route.follow("http://other.example/live", from: .global)
        }
    }
}
