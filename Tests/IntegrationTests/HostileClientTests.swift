import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Garbage at the socket does not change the reply to the next valid request.
@Suite(.sharing) struct HostileClientTests {
    /// Returns one of many invalid or incomplete requests.
    private static func garbage(_ number: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        let noise = (0..<Int.random(in: 1...4_000, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
        }
        let texts = [
            "GET", "GET /v1/status HTTP/1.1\r\n", "GET /v1/status HTTP/1.1\r\nhost: x\r\ncontent-le",
            "POST /v1/audio/play HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{\"id\":",
            "POST /v1/queue HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nfffffffff\r\n{",
            "POST /v1/queue HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
            "GET /v1/status HTTP/9.9\r\n\r\n", "\r\n\r\n\r\n", "{\"method\":\"status\"}\n",
            "GET /v1/\(String(repeating: "a", count: 100_000)) HTTP/1.1\r\nhost: x\r\n\r\n",
            "GET /v1/status HTTP/1.1\r\n\(String(repeating: "x: y\r\n", count: 5_000))",
            "PATCH /v1/audio HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{\"volume\"",
        ]
        return number.isMultiple(of: 3) ? noise : Array(texts[number % texts.count].utf8)
    }

    /// Returns the reply to a valid request.
    private func answer(_ service: Service) async throws -> JSONValue {
        let reply = try await service.connection().send("GET", "/v1/audio")
        #expect(reply.status == 200)
        #expect(reply.headers["backgrounder-version"] == Backgrounder.version)
        return try reply.json()
    }

    /// Returns the median time of ten requests, each on its own connection.
    private func latency(_ service: Service) async throws -> Duration {
        var times: [Duration] = []
        for _ in 0..<10 { times.append(try await time { try await answer(service) }.took) }
        return times.sorted()[5]
    }

    @Test func `after 1,000 pieces of garbage and beside 200 idle connections, replies are unchanged`() async throws {
        let service = try Service(TestConfiguration(queue: [Products.repository("media")]))
        let pid = try await service.start()
        let before = try await answer(service)
        let quiet = try await latency(service)
        let descriptors = try openDescriptors(pid)

        for number in 0..<1_000 {
            let socket = try StreamSocket(service.paths.controlSocket)
            // The service may close the connection before everything is sent.
            try? await socket.send(Self.garbage(number))
            // Every tenth ends its request and waits for the reply or the end; the others just disconnect.
            if number.isMultiple(of: 10) {
                socket.finishSending()
                _ = try await socket.receiveAll()
            }
        }
        #expect(try await answer(service) == before)

        var idle: [StreamSocket] = []
        for number in 0..<200 {
            let socket = try StreamSocket(service.paths.controlSocket)
            if number.isMultiple(of: 2) { try await socket.send("GET /v1/st") }
            idle.append(socket)
        }
        #expect(try await answer(service) == before)
        let busy = try await latency(service)
        #expect(busy < max(quiet * 10, .milliseconds(100)), "\(quiet) before, \(busy) beside idle connections")
        let command = try await service.command(["status"])
        #expect(command.exitCode == 0, "\(command)")

        // A connection without a complete request is closed after 10 s.
        let closed = try await idle[0].receiveAll(within: 15)
        #expect(String(decoding: closed, as: UTF8.self).isEmpty || closed.starts(with: Array("HTTP/1.1 4".utf8)))
        idle.removeAll()
        #expect(try await answer(service) == before)
        #expect(service.pid == pid)
        // No descriptor remains once all have disconnected; check again after each further reply.
        let deadline = ContinuousClock.now + .seconds(10)
        while try openDescriptors(pid) > descriptors + 2 {
            try #require(ContinuousClock.now < deadline, "connections leak")
            _ = try await answer(service)
        }
    }

    @Test func `a body over 1 MiB is refused with 413, and other connections are served`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        let connection = try service.connection()
        let head =
            "POST /v1/queue HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: \(3 << 20)\r\n\r\n"
        try await connection.socket.send(head)
        try? await connection.socket.send([UInt8](repeating: 0x20, count: 2 << 20))
        let reply = try await connection.head()
        #expect(reply.status == 413)
        #expect(try await service.connection().send("GET", "/v1/status").status == 200)
    }

    private func openDescriptors(_ pid: pid_t) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }
}
