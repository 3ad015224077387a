import BackgrounderAPI
import Foundation
import Synchronization
import SystemSupport
import TestSupport
import Testing
import WebSupport

@testable import BackgroundTransfers

/// Commands, order, waits and files of transfers.
@Suite struct TransferSessionTests {
    @Test func `a paused transfer keeps its bytes over a restart and resumes after them`() async throws {
        let rig = try TransferRig()
        let file = TestWebFile(size: 400_000, seed: 1) { $0.stallsAfter = 150_000 }
        rig.server.on("/file.bin", file.script)
        let id = try await rig.get("/file.bin")
        try await rig.wait(id, for: "bytes") { $0.state == .running && $0.received > 0 }
        let paused = try await rig.transfers.pause(id)
        #expect(paused.state == .paused)
        #expect(paused.received > 0)
        #expect(paused.received < 400_000)
        #expect(try await rig.transfers.pause(id) == paused)
        await rig.restart()
        #expect(try await rig.transfers.transfer(id) == paused)
        #expect(rig.names == [".backgrounder-1.part"])
        file.behaviour.withLock { $0.stallsAfter = nil }
        _ = try await rig.transfers.resume(id)
        #expect(try await rig.end(id).state == .done)
        #expect(rig.server.requests().map(\.rangeStart) == [0, Int(paused.received)])
        #expect(rig.file() == file.content())
        #expect(rig.names == ["file.bin"])
        await #expect(throws: TransferError.isOver(id, .done)) { try await rig.transfers.pause(id) }
        await #expect(throws: TransferError.isOver(id, .done)) { try await rig.transfers.resume(id) }
        await #expect(throws: TransferError.isOver(id, .done)) { try await rig.transfers.cancel(id) }
        await #expect(throws: TransferError.noSuchTransfer(9)) { try await rig.transfers.cancel(9) }
    }

    @Test func `a cancelled transfer leaves no file`() async throws {
        let rig = try TransferRig()
        let file = TestWebFile(size: 400_000, seed: 1) { $0.stallsAfter = 150_000 }
        rig.server.on("/file.bin", file.script)
        let id = try await rig.get("/file.bin")
        try await rig.wait(id, for: "bytes") { $0.received > 0 }
        #expect(try await rig.transfers.cancel(id).state == .cancelled)
        #expect(rig.names == [])
        let events = try await rig.transfers.events(of: "default")
        #expect(events.map(\.state) == ["cancelled"])
        #expect(events.map(\.transfer) == [id])
    }

    @Test func `an interrupted file of unknown length is not taken for the whole file`() async throws {
        let (rig, impatient) = (try TransferRig(), try TransferRig { $0.stallTime = .seconds(1) })
        for rig in [rig, impatient] {
            rig.server.on("/f") { _, connection in
                try connection.sendHead(200, ["Connection": "close", "ETag": "\"1\""])
                try connection.send([UInt8](repeating: 7, count: 100_000))
                connection.wait(milliseconds: 60_000)
            }
        }
        let cancelled = try await rig.get("/f", to: "cancelled")
        try await rig.wait(cancelled, for: "bytes") { $0.received > 0 }
        #expect(try await rig.transfers.cancel(cancelled).state == .cancelled)
        let paused = try await rig.get("/f", to: "paused")
        try await rig.wait(paused, for: "bytes") { $0.received > 0 }
        #expect(try await rig.transfers.pause(paused).state == .paused)
        let stalled = try await impatient.get("/f", to: "stalled")
        let stall = try await impatient.wait(stalled, for: "a stall") { $0.error != nil }
        #expect(stall.error?.contains("stalled") == true, "\(stall)")
        _ = try await impatient.transfers.cancel(stalled)
        #expect(rig.names == [".backgrounder-2.part"])
        #expect(impatient.names == [])
    }

    @Test func `transfers that are cancelled twice concurrently end once`() async throws {
        let rig = try TransferRig()
        rig.server.on("/silent") { _, connection in connection.wait(milliseconds: 60_000) }
        var ids: [Int] = []
        for number in 0..<40 { ids.append(try await rig.get("/silent", to: "\(number).bin")) }
        let transfers = rig.transfers
        await withTaskGroup { group in
            for id in ids + ids { group.addTask { _ = try? await transfers.cancel(id) } }
        }
        for id in ids { #expect(try await rig.end(id).state == .cancelled) }
        let events = try await transfers.events(of: "default")
        #expect(events.compactMap(\.transfer).sorted() == ids)
        #expect(await transfers.isAtWork == false)
        #expect(rig.names == [])
    }

    @Test func `a transfer that is killed repeatedly resumes where it was and never starts over`() async throws {
        let rig = try TransferRig()
        let file = TestWebFile(size: 1_000_000, seed: 1) { ($0.stallsAfter, $0.rate) = (100_000, 1_000_000) }
        rig.server.on("/file.bin", file.script)
        let id = try await rig.get("/file.bin")
        var before: Int64 = 0
        for _ in 1...5 {
            let transfer = try await rig.wait(id, for: "more bytes") { $0.state == .running && $0.received > before }
            before = transfer.received
            await rig.restart()
        }
        file.behaviour.withLock { $0.stallsAfter = nil }
        let transfer = try await rig.end(id)
        #expect(transfer.state == .done)
        #expect(transfer.restarts == 0)
        #expect(rig.file() == file.content())
        #expect(file.sent <= 1_030_000 + 32_768 * file.broken, "\(file.sent), \(file.broken) broken")
    }

    @Test func `after a reboot only synced bytes count`() async throws {
        let rig = try TransferRig()
        let file = TestWebFile(size: 400_000, seed: 1) { $0.stallsAfter = 150_000 }
        rig.server.on("/file.bin", file.script)
        let id = try await rig.get("/file.bin")
        try await rig.wait(id, for: "bytes") { $0.received > 0 }
        let paused = try await rig.transfers.pause(id)
        let durable = paused.received / 2
        await rig.restart()
        rig.journal.change(id) { ($0.boot, $0.durable) = ("another", durable) }
        file.behaviour.withLock { $0.stallsAfter = nil }
        _ = try await rig.transfers.resume(id)
        #expect(try await rig.end(id).state == .done)
        #expect(rig.server.requests().map(\.rangeStart) == [0, Int(durable)])
        #expect(rig.file() == file.content())
    }

    @Test func `a transfer that is killed after the rename is done and not downloaded again`() async throws {
        let rig = try TransferRig()
        rig.server.reply(to: "/x", headers: ["ETag": "\"1\""], body: "abc")
        rig.journal.isFull.withLock { $0 = true }
        let id = try await rig.get("/x")
        try await rig.wait(id, for: "an end that cannot be stored") { $0.state == .waiting && $0.waitingFor == .disk }
        #expect(rig.names == ["file.bin"])
        await rig.restart()
        rig.journal.isFull.withLock { $0 = false }
        #expect(try await rig.end(id).state == .done)
        #expect(rig.server.requests().count == 1)
        #expect(rig.names == ["file.bin"])
        #expect(try await rig.transfers.events(of: "default").map(\.state) == ["done"])
    }

    @Test func `a part that was moved to the final name is not mistaken for the finished file`() async throws {
        let rig = try TransferRig()
        let file = TestWebFile(size: 400_000, seed: 1) { $0.stallsAfter = 150_000 }
        rig.server.on("/file.bin", file.script)
        let id = try await rig.get("/file.bin", exists: .overwrite)
        try await rig.wait(id, for: "bytes") { $0.received > 0 }
        _ = try await rig.transfers.pause(id)
        try FileManager.default.moveItem(
            atPath: "\(rig.root)/.backgrounder-1.part",
            toPath: "\(rig.root)/file.bin"
        )
        file.behaviour.withLock { $0.stallsAfter = nil }
        _ = try await rig.transfers.resume(id)
        #expect(try await rig.end(id).state == .done)
        #expect(rig.file() == file.content())
        #expect(rig.names == ["file.bin"])
    }

    @Test func `a part locked by another service is left alone, and a brief lock is waited for`()
        async throws
    {
        let rig = try TransferRig { $0.attempts = 1000 }
        let file = TestWebFile(size: 400_000, seed: 1) { $0.stallsAfter = 150_000 }
        rig.server.on("/file.bin", file.script)
        let id = try await rig.get("/file.bin")
        try await rig.wait(id, for: "bytes") { $0.received > 0 }
        let part = open("\(rig.root)/.backgrounder-1.part", O_RDWR | O_CLOEXEC)
        defer { close(part) }
        for isMoment in [true, false] {
            _ = try await rig.transfers.pause(id)
            // A program that is just starting may hold a copy of the locked descriptor, so wait.
            try #require(await blocking(onThread: "test") { flock(part, LOCK_EX) } == 0)
            if isMoment {
                // About the time that a program takes to start.
                Thread.detachNewThread {
                    Thread.sleep(forTimeInterval: 0.05)
                    flock(part, LOCK_UN)
                }
            }
            let asked = rig.server.requests().count
            _ = try await rig.transfers.resume(id)
            if isMoment {
                try await rig.server.wait(forRequests: asked + 1)
                #expect(try await rig.transfers.transfer(id).error == nil)
            } else {
                let refused = try await rig.wait(id, for: "a refusal") { $0.error != nil }
                #expect(refused.error == "another service is writing to .backgrounder-1.part")
                #expect(refused.attempts > 0)
                #expect(rig.server.requests().count == asked)
            }
        }
        file.behaviour.withLock { $0.stallsAfter = nil }
        flock(part, LOCK_UN)
        #expect(try await rig.end(id).state == .done)
        #expect(rig.file() == file.content())
        #expect(rig.names == ["file.bin"])
    }

    @Test func `a transfer resumes when its server returns`() async throws {
        let rig = try TransferRig { ($0.attempts, $0.firstRetry) = (1000, .milliseconds(20)) }
        let file = TestWebFile(size: 300_000, seed: 1) { $0.stallsAfter = 100_000 }
        let first = try TestWebServer()
        first.on("/f", file.script)
        let id = try await rig.get(first.url("/f"))
        try await rig.wait(id, for: "bytes") { $0.received > 0 }
        first.end()
        file.behaviour.withLock { $0.stallsAfter = nil }
        try await rig.wait(id, for: "refused attempts") { $0.attempts > 2 && $0.error?.contains("refused") == true }
        let second = try TestWebServer(port: first.port)
        second.on("/f", file.script)
        let transfer = try await rig.end(id)
        #expect(transfer.state == .done)
        #expect(transfer.attempts == 0)
        #expect(transfer.restarts == 0)
        #expect(rig.file() == file.content())
        #expect(second.requests().first.map { $0.rangeStart > 0 } == true)
    }

    /// A window of less than two segments makes the sender wait a fifth of a second for each.
    @Test(.serialized, arguments: [200_000, 3_000_000, 6_000_000, 12_000_000])
    func `a transfer from the same machine is not slowed by the receive window`(size: Int) async throws {
        let rig = try TransferRig()
        let server = try TestWebServer()
        let content = [UInt8](repeating: 7, count: size)
        server.on("/f") { _, connection in try connection.reply(200, [:], content) }
        let id = try await rig.get(server.url("/f"))
        // With a wait for each segment, six megabytes would take 20 s.
        #expect(try await rig.end(id, within: 10).state == .done)
        #expect(rig.file() == content)
        #expect(server.requests().count == 1)
    }

    @Test(arguments: [
        (ExistingFile.overwrite, ["file.bin"], "new"), (.rename, ["file (1).bin", "file (2).bin", "file.bin"], "old"),
        (.fail, ["file.bin"], "old"),
    ]) func `an existing file is overwritten, kept beside the new one or an error, as requested`(
        exists: ExistingFile,
        names: [String],
        content: String
    ) async throws {
        let rig = try TransferRig()
        rig.server.reply(to: "/x", body: "new")
        // Creates the file during the download, so that the check at the end matters too.
        rig.server.on("/late") { _, connection in
            try connection.sendHead(200, ["Content-Length": "3"])
            try Data("old".utf8).write(to: URL(fileURLWithPath: rig.root + "/file.bin"))
            try connection.send(Array("new".utf8))
        }
        let late = try await rig.end(try await rig.get("/late", exists: exists))
        #expect(late.state == (exists == .fail ? .failed : .done), "\(late)")
        if exists == .rename { #expect(late.destination.hasSuffix("/file (1).bin")) }
        if exists == .fail {
            await #expect(throws: TransferError.exists(rig.root + "/file.bin")) {
                try await rig.get("/x", exists: exists)
            }
        } else {
            #expect(try await rig.end(try await rig.get("/x", exists: exists)).state == .done)
        }
        #expect(rig.names == names)
        #expect(rig.file().map { String(decoding: $0, as: UTF8.self) } == content)
    }

    @Test func `nothing is written outside the transfer folders`() async throws {
        let rig = try TransferRig()
        rig.server.reply(to: "/x", body: "x")
        let manager = FileManager.default
        let outside = rig.scratch.file("outside")
        for path in [rig.root, outside] {
            try manager.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        try manager.createSymbolicLink(atPath: rig.root + "/link", withDestinationPath: outside)
        try manager.createSymbolicLink(atPath: rig.root + "/file", withDestinationPath: outside + "/file")
        for name in ["../outside/x", "link/x", "link/", ".hidden", "a\u{1B}[2J", "link/a/b", "a/../../x"] {
            await #expect(throws: TransferError.self, "\(name)") { try await rig.get("/x", to: name) }
        }
        await #expect(throws: TransferError.exists(rig.root + "/file")) { try await rig.get("/x", to: "file") }
        await #expect(throws: TransferError.name(.slash)) { try await rig.get("/..%2f..%2fetc%2fpasswd", to: "") }
        let id = try await rig.get("/x", to: "deep/er/x", discretionary: true)
        #expect(try await rig.end(id).state == .done)
        #expect(try manager.contentsOfDirectory(atPath: outside) == [])
        let other = try await rig.end(try await rig.get("/x", to: "file", exists: .rename))
        #expect(other.destination.hasSuffix("/file (1)"))
        #expect(try manager.contentsOfDirectory(atPath: outside) == [])
    }

    @Test func `at most two transfers per server run at a time, urgent ones first`() async throws {
        let rig = try TransferRig()
        let file = TestWebFile(size: 100_000, seed: 1)
        let isOpen = Flag()
        rig.server.on("*") { request, connection in
            while !isOpen.value { connection.wait(milliseconds: 20) }
            try file.script(request, connection)
        }
        var ids: [Int] = []
        for number in 1...6 {
            ids.append(try await rig.get("/\(number)", to: "\(number)", discretionary: number < 4))
        }
        try await rig.server.wait(forRequests: 2)
        let running = await rig.transfers.open.count { $0.state == .running }
        #expect(running <= 2)
        isOpen.set()
        for id in ids { #expect(try await rig.end(id).state == .done) }
        #expect(rig.names.count == 6)
        // The first two began before the urgent ones were added. The third began last, or with one other.
        let order = rig.server.requests().map(\.path)
        #expect(try #require(order.firstIndex(of: "/3")) >= 4, "\(order)")
    }

    @Test func `the error of an expired transfer has no control characters`() async throws {
        let rig = try TransferRig { $0.lifetime = .zero }
        rig.server.reply(to: "/x", body: "x")
        // A folder with the name of the part prevents its creation.
        let folder = "a\u{1B}[2J"
        try FileManager.default.createDirectory(
            atPath: "\(rig.root)/\(folder)/.backgrounder-1.part",
            withIntermediateDirectories: true
        )
        let transfer = try await rig.end(try await rig.get("/x", to: folder + "/x"))
        let error = try #require(transfer.error)
        #expect(transfer.state == .failed, "\(transfer)")
        #expect(error.hasPrefix("not finished within"), "\(transfer)")
        #expect(error.contains("/a\u{FFFD}[2J/"))
        #expect(error == error.withoutControlCharacters)
    }

    @Test func `an unresolvable name is a wait for the network and not an attempt`() async throws {
        let rig = try TransferRig()
        let id = try await rig.get("https://no-such-host.invalid/x")
        let held = try await rig.wait(id, for: "a wait") { $0.state == .waiting }
        #expect(held.waitingFor == .network)
        #expect(held.attempts == 0)
        #expect(held.error == "the connection to no-such-host.invalid failed: the name cannot be resolved")
        _ = try await rig.transfers.cancel(id)
    }

    @Test func `a discretionary transfer waits for the host, and an urgent one does not`() async throws {
        let conditions = FixedConditions(.power)
        let rig = try TransferRig(conditions: conditions)
        rig.server.reply(to: "/x", body: "x")
        let waiting = try await rig.get("/x", to: "a", discretionary: true)
        let held = try await rig.wait(waiting, for: "a wait") { $0.state == .waiting }
        #expect(held.waitingFor == .power)
        #expect(held.attempts == 0)
        #expect(try await rig.end(try await rig.get("/x", to: "b")).state == .done)
        conditions.set(nil)
        _ = try await rig.transfers.resume(waiting)
        #expect(try await rig.end(waiting).state == .done)
    }

    @Test func `a busy machine delays a discretionary transfer, but not forever`() async throws {
        let rig = try TransferRig(conditions: FixedConditions(.limiter)) { $0.busyTime = .milliseconds(20) }
        rig.server.reply(to: "/x", body: "x")
        #expect(try await rig.end(try await rig.get("/x", discretionary: true)).state == .done)
    }

    @Test(arguments: [
        TransferRequest(url: "https://h/x", destination: "relative"),
        TransferRequest(url: "ftp://h/x", destination: "ROOT/x"),
        TransferRequest(url: "http://h/x", destination: "ROOT/x"),
        TransferRequest(url: "https://h/x", destination: "ROOT/x", session: ""),
        TransferRequest(url: "https://h/x", destination: "ROOT/x", session: "a/b"),
        TransferRequest(url: "https://h/x", destination: "ROOT/x", session: "a\nb"),
        TransferRequest(url: "https://h/x", destination: "ROOT/x", sha256: "abc"),
        TransferRequest(url: "https://h/x", destination: "ROOT/x", sizeMax: 0),
        TransferRequest(url: "https://h/", destination: "ROOT/"),
        TransferRequest(url: "https://h/x", destination: "/etc/x"),
        TransferRequest(url: "https://h/x", destination: "ROOT/a\u{0}b"),
    ]) func `an invalid request is refused and not recorded`(request: TransferRequest)
        async throws
    {
        let rig = try TransferRig()
        var request = request
        request.destination = request.destination.replacing("ROOT", with: rig.root)
        await #expect(throws: TransferError.self) { try await rig.transfers.add(request) }
        #expect(try await rig.transfers.transfers() == [])
    }
}
