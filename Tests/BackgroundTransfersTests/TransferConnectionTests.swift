import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import SystemSupport
import TestSupport
import Testing
import WebSupport

@testable import BackgroundTransfers

/// Flow control, cancellation and the end of transfer connections.
@Suite struct TransferConnectionTests {
    /// Thrown by a reader that stops after the first piece.
    private struct Stopped: Error {}

    private func connection(expected: Int64 = 0, connectTime: Duration = .seconds(10)) -> TransferConnection {
        TransferConnection(
            group: MultiThreadedEventLoopGroup.singleton,
            connectTime: connectTime,
            executor: QueueExecutor("test"),
            expected: expected
        )
    }

    /// Returns how many bytes of a body the kernel and this process accept if only the first piece is used.
    private func taken(expected: Int64, segment: Int32?, rate: Int?) async throws -> Int {
        let server = try TestWebServer(sendBuffer: 4096, segment: segment)
        let file = TestWebFile(size: 4_000_000, seed: 1) { $0.rate = rate }
        server.on("/f", file.script)
        let url = try WebURL(server.url("/f"))
        await #expect(throws: Stopped.self) {
            try await connection(expected: expected).exchange(HTTPRequestHead(.GET, url), with: url.origin) { _, body in
                for try await _ in body {
                    // Time for all bytes that the window allows; no event marks the last one.
                    try await Task.sleep(for: .milliseconds(500))
                    throw Stopped()
                }
            }
        }
        server.end()
        try await server.waitForEnd()
        return file.sent
    }

    @Test(arguments: [nil, 1448 as Int32], [nil, 1_000_000])
    func `an unread connection accepts at most 32 KiB, or more if a large file is expected`(segment: Int32?, rate: Int?)
        async throws
    {
        let narrow = try await taken(expected: 0, segment: segment, rate: rate)
        #expect(narrow > 4000, "\(narrow)")
        #expect(narrow <= 32_768, "\(narrow)")
        let wide = try await taken(expected: 1 << 30, segment: segment, rate: rate)
        #expect(wide > 65_536, "\(wide)")
    }

    @Test func `a widened connection reads pieces larger than 32 KiB`() async throws {
        let server = try TestWebServer()
        let size = 20 << 20
        server.on("/f") { _, connection in
            try connection.sendHead(200, ["Content-Length": "\(size)"])
            let piece = [UInt8](repeating: 7, count: 1 << 20)
            for _ in 0..<20 { try connection.send(piece) }
        }
        let url = try WebURL(server.url("/f"))
        let connection = connection()
        let scale = try await connection.exchange(HTTPRequestHead(.GET, url), with: url.origin) { _, body in
            var count = 0
            var widest = 0
            for try await buffer in body {
                if count == 0 { connection.widen(for: 1 << 30) }
                count += buffer.readableBytes
                widest = max(widest, buffer.readableBytes)
            }
            #expect(count == size)
            return widest
        }
        #expect(scale > 32_768)
    }

    @Test func `cancelling a connection attempt does not wait for the network`() async throws {
        let crowd = try CrowdedPort()
        let url = try WebURL("http://127.0.0.1:\(crowd.port)/")
        let connection = connection(connectTime: .seconds(30))
        let task = Task {
            try await connection.exchange(HTTPRequestHead(.GET, url), with: url.origin) { _, _ in }
        }
        try await crowd.waitForConnecting()
        let began = ContinuousClock.now
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        #expect(ContinuousClock.now - began < .seconds(5))
        // The connection cannot be used afterwards.
        await #expect(throws: (any Error).self) {
            try await connection.exchange(HTTPRequestHead(.GET, url), with: url.origin) { _, _ in }
        }
    }

    @Test func `a TLS handshake that does not complete times out`() async throws {
        let server = try TestWebServer()
        let url = try WebURL("https://127.0.0.1:\(server.port)/")
        await #expect(throws: ChannelError.connectTimeout(.milliseconds(200))) {
            let connection = connection(connectTime: .milliseconds(200))
            try await connection.exchange(HTTPRequestHead(.GET, url), with: url.origin) { _, _ in }
        }
    }

    /// The end of a connection whose body has no length.
    enum End: CaseIterable {
        case closed, reset, brokenOffHere
    }

    @Test(arguments: End.allCases)
    func `a body without a length is complete only if the server closes the connection`(end: End) async throws {
        let server = try TestWebServer()
        server.on("/f") { _, connection in
            try connection.sendHead(200, ["Connection": "close"])
            try connection.send([UInt8](repeating: 7, count: 100_000))
            switch end {
            case .closed: connection.close()
            case .reset: connection.reset()
            case .brokenOffHere: connection.wait(milliseconds: 20_000)
            }
        }
        let url = try WebURL(server.url("/f"))
        let connection = connection()
        var count = 0
        do {
            try await connection.exchange(HTTPRequestHead(.GET, url), with: url.origin) { _, body in
                for try await buffer in body {
                    count += buffer.readableBytes
                    if count == 100_000, end == .brokenOffHere { connection.end() }
                }
            }
            #expect(end == .closed, "\(count)")
            #expect(count == 100_000, "\(count)")
        } catch {
            switch end {
            case .closed: Issue.record("\(error)")
            case .reset: #expect(count > 0, "\(error)")
            case .brokenOffHere: #expect(count == 100_000, "\(error)")
            }
        }
    }

    @Test(arguments: [200, 413])
    func `an answer before the whole file was sent counts only if it is a refusal`(status: Int) async throws {
        let server = try TestWebServer()
        server.onHead(of: "/in") { _, connection in
            try connection.reply(status)
            connection.close()
        }
        let url = try WebURL(server.url("/in"))
        var request = HTTPRequestHead(.PUT, url)
        request.headers.add(name: "Content-Length", value: "200000000")
        let connection = connection()
        // More than the server's kernel buffers.
        let content = AsyncThrowingStream<ByteBuffer, any Error> { ByteBuffer(repeating: 7, count: 1 << 16) }
        do {
            let said = try await connection.exchange(request, with: url.origin, sending: content) { head, _ in
                Int(head.status.code)
            }
            #expect(said == 413)
            #expect(status == 413)
        } catch let fault as TransferFault {
            #expect(status == 200)
            #expect(fault == .passing("the server answered with status 200 before it had the whole file"))
        }
    }

    /// The client sees the answer and the end before it knows that the whole file was sent.
    @Test func `a server that has the whole file may close immediately after its answer`() async throws {
        let server = try TestWebServer()
        server.on("/in") { _, connection in
            try connection.reply(201)
            connection.close()
        }
        let url = try WebURL(server.url("/in"))
        var request = HTTPRequestHead(.PUT, url)
        request.headers.add(name: "Content-Length", value: "3")
        let isSent = Mutex(false)
        let content = AsyncThrowingStream<ByteBuffer, any Error> {
            let isOver = isSent.withLock { isSent in
                defer { isSent = true }
                return isSent
            }
            guard isOver else { return ByteBuffer(string: "abc") }
            try await server.waitForEnd()
            // Time for the end to pass through the channel, which reports no event for it.
            try await Task.sleep(for: .milliseconds(100))
            return nil
        }
        let status = try await connection().exchange(request, with: url.origin, sending: content) { head, _ in
            Int(head.status.code)
        }
        #expect(status == 201)
    }
}
