import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import BackgroundTransfers

/// Folders and names with non-ASCII characters.
@Suite struct TransferPathTests {
    @Test(arguments: ["日本", "e\u{301}", "\u{301}x"])
    func `a file lands where it was requested, even if the name of its root is not ASCII`(root: String) async throws {
        let rig = try TransferRig(root: root)
        rig.server.reply(to: "/x", body: "x")
        let transfer = try await rig.end(try await rig.get("/x", to: "videos/a.mp4"))
        #expect(transfer.state == .done, "\(transfer)")
        #expect(rig.names == ["videos"])
        #expect(rig.file("videos/a.mp4") == Array("x".utf8))
    }

    @Test func `a folder that looks like a root but has different bytes is not a root`() async throws {
        let rig = try TransferRig(root: "\u{E9}")
        let other = rig.scratch.file("e\u{301}/x")
        await #expect(throws: TransferError.self) {
            try await rig.transfers.add(TransferRequest(url: rig.server.url("/x"), destination: other))
        }
    }

    @Test func `with / as the root, files are downloaded and uploaded everywhere`() async throws {
        let rig = try TransferRig(roots: ["/"], sendsOnlyFromRoots: true)
        rig.server.reply(to: "/x", body: "x")
        let transfer = try await rig.end(try await rig.get("/x", to: "a/b"))
        #expect(transfer.state == .done, "\(transfer)")
        #expect(rig.file("a/b") == Array("x".utf8), "\(transfer)")
        let request = TransferRequest(direction: .put, url: rig.server.url("/x"), destination: rig.root + "/a/b")
        #expect(try await rig.end(try await rig.transfers.add(request).id).state == .done)
        #expect(rig.server.requests().last?.body == Array("x".utf8))
    }

    @Test(arguments: [
        ("/%CC%81x", "", "\u{301}x"), ("/x", "\u{301}x", "\u{301}x"), ("/x", "\u{301}d/\u{301}x", "\u{301}d/\u{301}x"),
    ])
    func `a name that begins with a combining accent is valid`(path: String, to: String, name: String) async throws {
        let rig = try TransferRig()
        rig.server.reply(to: path, body: "x")
        let transfer = try await rig.end(try await rig.get(path, to: to))
        #expect(transfer.state == .done, "\(transfer)")
        #expect(transfer.destination == "\(rig.root)/\(name)", "\(transfer)")
        #expect(rig.file(name) == Array("x".utf8))
        let other = try await rig.end(try await rig.get(path, to: to, exists: .rename))
        #expect(other.destination == "\(rig.root)/\(name) (1)", "\(other)")
        let request = TransferRequest(direction: .put, url: rig.server.url(path), destination: transfer.destination)
        #expect(try await rig.end(try await rig.transfers.add(request).id).state == .done)
    }
}
