import BackgrounderAPI
import Foundation
import Glibc
import Synchronization
import SystemSupport
import TestSupport
import Testing

/// Concurrent starts for one fetch, and the enclosures that a fetch hands to the transfers.
@Suite(.sharing) struct FetchLaunchTests {
    @Test func `two concurrent starts for one fetch share its run and report the same result`() async throws {
        let server = try TestWebServer()
        let service = try Service(TestConfiguration(modes: "[fetch]"))
        let asked = Signal()
        let count = Mutex(0)
        let answer = DispatchSemaphore(value: 0)
        server.on("/feed") { request, connection in
            count.withLock { $0 += 1 }
            asked.post()
            answer.wait()
            let isKnown = request.headers["if-none-match"] != nil
            try connection.reply(isKnown ? 304 : 200, ["ETag": "\"1\""], isKnown ? [] : Array("x".utf8))
        }
        try await service.start()
        try await service.run("fetch", "add", "news", "--url", server.url("/feed"), "--kind", "raw")
        try await service.run("stop")
        func launch() async throws -> ProgramRun {
            try await ProgramRun.of(
                Products.backgrounderd,
                ["--launch-for-fetch", "news"],
                environment: service.environment
            )
        }
        async let first = launch()
        try await asked.wait(for: "the request", within: 20) { count.withLock { $0 } == 1 ? () : nil }
        let lock = try FileOpening(service.paths.lock)
        async let second = launch()
        try await lock.wait()
        answer.signal()
        let runs = try await [first, second]
        #expect(runs.map(\.exitCode) == [0, 0], "\(runs)")
        #expect(runs[0].text == runs[1].text, "\(runs)")
        // A later start has its own run.
        answer.signal()
        #expect(try await launch().exitCode == 3)
        try await service.start()
        let log: [FetchRun] = try await service.json("fetch", "log", "news")
        #expect(log.map(\.result) == [.newData, .noData])
        #expect(log.allSatisfy { $0.trigger == .launch })
    }

    @Test func `enclosures with the same name get files of their own and are not transferred twice`() async throws {
        let server = try TestWebServer()
        let service = try Service(
            TestConfiguration(modes: "[fetch]", rest: ["transfers: {allowHTTP: [127.0.0.1, localhost]}"])
        )
        let items = (1...2).map {
            #"{"id":"\#($0)","attachments":[{"url":"\#(server.url("/\($0)/x.mp3"))","mime_type":"audio/mpeg"}]}"#
        }
        server.reply(
            to: "/feed",
            body:
                #"{"version":"https://jsonfeed.org/version/1.1","title":"t","items":[\#(items.joined(separator: ","))]}"#
        )
        // Keeps the transfers open for the whole test.
        let answer = DispatchSemaphore(value: 0)
        for number in 1...2 { server.on("/\(number)/x.mp3") { _, _ in answer.wait() } }
        defer { for _ in 1...2 { answer.signal() } }
        try await service.start()
        let folder = service.file("downloads")
        try await service.run("fetch", "add", "cast", "--url", server.url("/feed"), "--download", folder)
        let events = try service.events()
        try await service.run("fetch", "run", "cast")
        try await events.wait(for: "the second transfer") { received in
            received.payloads("transfer").contains { $0.contains("\"id\":2") } ? true : nil
        }
        let expected = ["\(folder)/x.mp3", "\(folder)/x (1).mp3"]
        #expect(try await service.json("transfer", "list", as: [Transfer].self).map(\.destination) == expected)
        // All items are new again, and so is a third. It has another host, as each host gets two transfers at a time.
        try await service.run("fetch", "clear", "cast")
        let third = items[0].replacing(#""id":"1""#, with: #""id":"3""#).replacing("/1/x", with: "/3/y")
            .replacing("127.0.0.1", with: "localhost")
        server.reply(
            to: "/feed",
            body:
                #"{"version":"https://jsonfeed.org/version/1.1","items":[\#((items + [third]).joined(separator: ","))]}"#
        )
        let again: FetchRun = try await service.json("fetch", "run", "cast")
        #expect(again.result == .newData)
        try await events.wait(for: "the third transfer") { received in
            received.payloads("transfer").contains { $0.contains("\"id\":3") } ? true : nil
        }
        let all: [Transfer] = try await service.json("transfer", "list")
        #expect(all.map(\.destination) == expected + ["\(folder)/y.mp3"])
    }

    @Test func `a new enclosure is downloaded although another file has its name`() async throws {
        let server = try TestWebServer()
        let service = try Service(TestConfiguration(modes: "[fetch]", rest: ["transfers: {allowHTTP: [127.0.0.1]}"]))
        let item = #"{"id":"1","attachments":[{"url":"\#(server.url("/x.mp3"))","mime_type":"audio/mpeg"}]}"#
        server.reply(
            to: "/feed",
            body: #"{"version":"https://jsonfeed.org/version/1.1","title":"t","items":[\#(item)]}"#
        )
        server.reply(to: "/x.mp3", body: "new")
        try await service.start()
        let folder = service.file("downloads")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(filePath: folder + "/x.mp3"))
        try await service.run("fetch", "add", "cast", "--url", server.url("/feed"), "--download", folder)
        let events = try service.events()
        try await service.run("fetch", "run", "cast")
        try await events.wait(for: "the transfer") { received in
            received.payloads("transfer").contains { $0.contains("\"id\":1") } ? true : nil
        }
        // A busy machine, as in a run of all tests, holds it back for 30 s at most.
        try await service.events().wait(forState: "end of the transfer", within: 60) { $0.status.transfers == nil }
        let transfers: [Transfer] = try await service.json("transfer", "list")
        #expect(transfers.map(\.url) == [server.url("/x.mp3")])
        #expect(transfers.map(\.state) == [.done])
        #expect(try Data(contentsOf: URL(filePath: folder + "/x.mp3")) == Data("mine".utf8))
        #expect(try Data(contentsOf: URL(filePath: folder + "/x (1).mp3")) == Data("new".utf8))
    }
}

/// A watch for the opening of a file (inotify(7)).
private final class FileOpening: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = inotify_init1(Int32(O_CLOEXEC))
        try #require(descriptor >= 0)
        try #require(inotify_add_watch(descriptor, path, UInt32(IN_OPEN)) >= 0)
    }

    deinit { close(descriptor) }

    /// Returns when the file was opened.
    func wait() async throws {
        let isOpened = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [descriptor] in
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                continuation.resume(returning: poll(&waiting, 1, 20_000) == 1)
            }
        }
        try #require(isOpened)
    }
}
