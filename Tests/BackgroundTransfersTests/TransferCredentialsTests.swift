import BackgrounderAPI
import Foundation
import Synchronization
import TestSupport
import Testing
import WebSupport

@testable import BackgroundTransfers

/// Credentials of transfers, which only the server of their URL may see.
@Suite struct TransferCredentialsTests {
    @Test func `credentials go only to their own server and do not appear in the record`() async throws {
        let rig = try TransferRig()
        let other = try TestWebServer()
        rig.server.reply(to: "/a", 302, headers: ["Location": "/b"])
        rig.server.reply(to: "/b", 302, headers: ["Location": other.url("/c")])
        // After a foreign host, a redirect back may be that host's idea.
        other.reply(to: "/c", 302, headers: ["Location": rig.server.url("/d")])
        rig.server.reply(to: "/d", body: "x")
        let file = try rig.scratch.write("user = me\npassword = secret\nheader = X-Key: secret\n", to: "credentials")
        chmod(file, 0o600)
        let id = try await rig.get("/a", credentials: file)
        let transfer = try await rig.end(id)
        #expect(transfer.state == .done, "\(transfer)")
        let basic = "Basic bWU6c2VjcmV0"
        #expect(rig.server.requests().map { $0.headers["authorization"] } == [basic, basic, nil])
        #expect(rig.server.requests().map { $0.headers["x-key"] } == ["secret", "secret", nil])
        #expect(other.requests().map { $0.headers["authorization"] } == [nil])
        #expect(!"\(try #require(rig.journal.record(id)))".contains("secret"))
    }

    @Test func `credentials are read for each attempt, and an invalid file does not end the transfer`() async throws {
        let rig = try TransferRig { $0.firstRetry = .seconds(1000) }
        rig.server.reply(to: "/a", body: "x")
        let file = try rig.scratch.write("bearer = first", to: "credentials")
        await #expect(throws: TransferError.credentials(.open(file, mode: 0o644))) {
            chmod(file, 0o644)
            _ = try await rig.get("/a", credentials: file)
        }
        chmod(file, 0o600)
        rig.server.reply(to: "/a", 503)
        let id = try await rig.get("/a", credentials: file)
        try await rig.wait(id, for: "a refusal") { $0.state == .waiting }
        try rig.scratch.write("bearer second", to: "credentials")
        _ = try await rig.transfers.resume(id)
        let waiting = try await rig.wait(id, for: "a fault") {
            $0.state == .waiting && $0.error?.contains(file) == true
        }
        #expect(waiting.error?.contains("\(file):1: ") == true)
        #expect(waiting.error?.contains("second") == false)
        try rig.scratch.write("bearer = second", to: "credentials")
        rig.server.reply(to: "/a", body: "x")
        _ = try await rig.transfers.resume(id)
        #expect(try await rig.end(id).state == .done)
        #expect(rig.server.requests().map { $0.headers["authorization"] } == ["Bearer first", "Bearer second"])
    }
}
