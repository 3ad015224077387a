import Foundation
import TestSupport
import Testing

/// The files of the page as they are sent.
@Suite struct PageFileTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/CPageFiles/page")

    private static let scripts =
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?
        .filter { $0.hasSuffix(".js") } ?? []

    private func get(_ target: String, headers: [String: String] = [:]) async throws -> HTTPReply {
        let page = try await PageFixture()
        let reply = try await page.connect(token: nil).send("GET", target, headers: headers)
        try await page.stop()
        return reply
    }

    @Test func `every file that the page names is served`() async throws {
        let index = try await get("/")
        #expect(index.headers["content-type"] == "text/html; charset=utf-8")
        let named = index.text.matches(of: /(?:href|src)="(\/[^"#]*)"/).map { String($0.output.1) }
        #expect(named.count >= 4)
        var all = Set(named)
        for script in Self.scripts {
            let text = try String(contentsOf: Self.folder.appending(path: script), encoding: .utf8)
            all.formUnion(text.matches(of: /from '\.\/([a-z]+\.js)'/).map { "/page/\($0.output.1)" })
            all.formUnion(text.matches(of: /'(\/(?:page|leaflet)\/[a-z.0-9-]+)'/).map { String($0.output.1) })
        }
        let manifest = try await get("/page/manifest.webmanifest").json()
        all.formUnion(manifest["icons"]?.array?.compactMap { $0["src"]?.string } ?? [])
        #expect(all.isSuperset(of: ["/page/basemap.bin", "/leaflet/leaflet.js", "/page/icon-512.png"]))
        let page = try await PageFixture()
        let connection = try page.connect(token: nil)
        for path in all.sorted() {
            let reply = try await connection.send("GET", path)
            #expect(reply.status == 200, "\(path)")
            #expect(!reply.body.isEmpty, "\(path)")
        }
        try await page.stop()
    }

    @Test(arguments: scripts)
    func `a script is sent without its comments, and its lines keep their numbers`(name: String) async throws {
        let lines = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8).components(
            separatedBy: "\n"
        )
        let sent = try await get("/page/\(name)").text.components(separatedBy: "\n")
        try #require(sent.count == lines.count)
        var isInComment = false
        for (number, (line, received)) in zip(lines, sent).enumerated() {
            let start = line.drop { $0 == " " }
            if start.hasPrefix("/*") { isInComment = true }
            let isComment = isInComment || start.hasPrefix("//")
            #expect(received == (isComment ? "" : line), "\(name):\(number + 1)")
            if line.contains("*/") { isInComment = false }
        }
    }

    @Test(arguments: scripts)
    func `no script turns text into markup or code`(name: String) async throws {
        let text = try await get("/page/\(name)").text
        for way in [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser",
            "createContextualFragment", "setHTML", "srcdoc", "javascript:", "document.cookie",
        ] {
            #expect(!text.contains(way), "\(name): \(way)")
        }
    }

    @Test func `a known file is not sent again, and a changed encoding has its own tag`() async throws {
        let plain = try await get("/page/page.css")
        let packed = try await get("/page/page.css", headers: ["accept-encoding": "gzip, br"])
        let tag = try #require(packed.headers["etag"])
        #expect(plain.headers["etag"] != tag)
        #expect(packed.headers["content-encoding"] == "gzip")
        #expect(packed.headers["vary"] == "Accept-Encoding")
        #expect(packed.body.count < plain.body.count / 2)
        let source = try Data(contentsOf: Self.folder.appending(path: "page.css"))
        #expect(Data(plain.body) == source)
        for known in [tag, "\"x\", \(tag)"] {
            let again = try await get("/page/page.css", headers: ["accept-encoding": "gzip", "if-none-match": known])
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
        }
        let other = try await get("/page/page.css", headers: ["if-none-match": tag])
        #expect(other.status == 200)
    }

    @Test(arguments: ["/page/", "/page", "/page/../page/main.js", "/page/none.js", "/leaflet/images/layers.png", "//"])
    func `other paths are not files`(path: String) async throws {
        #expect(try await get(path).status == 401)
    }
}
