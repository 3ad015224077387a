import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import BackgroundTransfers

/// Uploads to web servers.
@Suite struct UploadTests {
    @Test func `an upload arrives whole and is retried with the same idempotency key`() async throws {
        let rig = try TransferRig()
        let content = TestWebFile(size: 700_000, seed: 2).content()
        let path = try rig.scratch.write(content, to: "trip.gpx")
        rig.server.on("/in") { [server = rig.server] _, connection in
            try connection.reply(server.requests().count == 1 ? 503 : 201)
        }
        rig.server.reply(to: "/from", 307, headers: ["Location": "/in"])
        let request = TransferRequest(direction: .put, url: rig.server.url("/from"), destination: path)
        let transfer = try await rig.end(try await rig.transfers.add(request).id)
        #expect(transfer.state == .done, "\(transfer)")
        #expect(transfer.received == 700_000, "\(transfer)")
        let taken = rig.server.requests(to: "/in")
        #expect(taken.last?.body == content)
        #expect(taken.last?.method == "PUT")
        let keys = Set(taken.map { $0.headers["idempotency-key"] })
        #expect(keys.count == 1)
        #expect(keys.first??.isEmpty == false)
    }

    @Test func `a server may take minutes to answer after the whole file was sent`() async throws {
        let clock = VirtualClock()
        let rig = try TransferRig(clock: clock)
        let path = try rig.scratch.write([UInt8](repeating: 7, count: 300_000), to: "x")
        let mayAnswer = Flag()
        defer { mayAnswer.set() }
        rig.server.on("/in") { _, connection in
            while !mayAnswer.value { connection.wait(milliseconds: 20) }
            try connection.reply(201)
        }
        let request = TransferRequest(direction: .put, url: rig.server.url("/in"), destination: path)
        let id = try await rig.transfers.add(request).id
        try await rig.server.wait(forRequests: 1)
        for _ in 1...9 {
            try await clock.waitForSleeper(.seconds(60))
            clock.advance(by: .seconds(60))
        }
        mayAnswer.set()
        let transfer = try await rig.end(id)
        #expect(transfer.state == .done, "\(transfer)")
        #expect(rig.server.requests().count == 1, "\(transfer)")
    }

    @Test func `a server that does not answer for ten minutes after the whole file was sent is given up`() async throws
    {
        let clock = VirtualClock()
        let rig = try TransferRig(clock: clock)
        let path = try rig.scratch.write([UInt8](repeating: 7, count: 300_000), to: "x")
        rig.server.on("/in") { _, connection in connection.wait(milliseconds: 60_000) }
        let request = TransferRequest(direction: .put, url: rig.server.url("/in"), destination: path)
        let id = try await rig.transfers.add(request).id
        try await rig.server.wait(forRequests: 1)
        // The whole file was sent before the first of these minutes.
        for _ in 0..<10 {
            try await clock.waitForSleeper(.seconds(60))
            clock.advance(by: .seconds(60))
        }
        let transfer = try await rig.wait(id, for: "a fault") { $0.error != nil }
        let error = "the whole file was sent to 127.0.0.1, but it does not answer"
        #expect(transfer.error == error)
        #expect(transfer.attempts == 1)
        _ = try await rig.transfers.cancel(id)
    }

    @Test func `an upload fails if its file changes meanwhile or is not a regular file`() async throws {
        let rig = try TransferRig()
        let path = try rig.scratch.write("before", to: "x")
        rig.server.on("/in") { _, connection in
            try Data("behind".utf8).write(to: URL(fileURLWithPath: path))
            try connection.reply(200)
        }
        let request = TransferRequest(direction: .put, url: rig.server.url("/in"), destination: path)
        let transfer = try await rig.end(try await rig.transfers.add(request).id)
        #expect(transfer.state == .failed)
        #expect(transfer.error?.contains("changed") == true)
        for bad in ["/nowhere", rig.scratch.path] {
            await #expect(throws: TransferError.self) {
                try await rig.transfers.add(TransferRequest(direction: .put, url: "https://h/", destination: bad))
            }
        }
    }

    @Test func `an upload fails if the server refuses it or is unreachable`() async throws {
        let rig = try TransferRig { $0.attempts = 2 }
        let path = try rig.scratch.write("x", to: "x")
        rig.server.reply(to: "/no", 403)
        let port = try freePort(SOCK_STREAM)
        for (url, says) in [(rig.server.url("/no"), "403"), ("http://127.0.0.1:\(port)/", "refused")] {
            let request = TransferRequest(direction: .put, url: url, destination: path)
            let transfer = try await rig.end(try await rig.transfers.add(request).id)
            #expect(transfer.state == .failed, "\(transfer)")
            #expect(transfer.error?.contains(says) == true, "\(transfer)")
        }
    }
}
