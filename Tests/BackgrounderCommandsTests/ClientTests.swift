import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import BackgrounderCommands

/// The errors of commands whose socket does not answer.
@Suite struct ClientTests {
    private let scratch: ScratchDirectory
    private let paths: RuntimePaths

    init() throws {
        scratch = try ScratchDirectory()
        paths = RuntimePaths(home: scratch.path, environment: [:], userID: 1)
        try FileManager.default.createDirectory(atPath: scratch.file("run"), withIntermediateDirectories: true)
    }

    private func failure() async -> CommandFailure? {
        await #expect(throws: CommandFailure.self) {
            _ = try await Client(paths).call(Routes.status)
        }
    }

    /// Returns a socket at the service's path that accepts connections.
    private func listen() throws -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(paths.controlSocket.utf8)
        try #require(path.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let bound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        try #require(Glibc.listen(listener, 1) == 0)
        return listener
    }

    @Test func `without a socket the service is not running`() async {
        #expect(await failure()?.kind == .notRunning)
    }

    @Test func `a socket that a killed service left behind means that it is not running`() async throws {
        close(try listen())
        #expect(await failure()?.kind == .notRunning)
    }

    @Test func `a service that closes the connection is not called stopped`() async throws {
        let listener = try listen()
        let closing = Thread {
            close(accept(listener, nil, nil))
            close(listener)
        }
        closing.start()
        let failure = try #require(await failure())
        #expect(failure.kind == .lostConnection)
        #expect(failure.exitCode == 3)
        #expect(failure.description == "lost the connection to the service; see `backgrounder log`")
    }

    @Test(.enabled(if: geteuid() != 0, "root may connect to every socket"))
    func `a socket of another user means that permission is missing`() async throws {
        let listener = try listen()
        defer { close(listener) }
        try #require(chmod(paths.controlSocket, 0) == 0)
        let failure = try #require(await failure())
        #expect(failure.exitCode == 1)
        #expect(failure.description.contains("permission denied"), "\(failure)")
    }

    // MARK: Replies

    /// Answers one request with `pieces`, each sent by itself, and closes the connection.
    private func serve(_ pieces: [[UInt8]], afterReading count: Int = 1, thenWaiting: Bool = false) throws {
        let listener = try listen()
        Thread.detachNewThread {
            let connection = accept(listener, nil, nil)
            close(listener)
            var request = [UInt8](repeating: 0, count: count)
            var rest = count
            while rest > 0 { rest -= max(1, recv(connection, &request, rest, 0)) }
            for piece in pieces { _ = send(connection, piece, piece.count, Int32(MSG_NOSIGNAL)) }
            // Ends when the client does.
            if thenWaiting { while recv(connection, &request, request.count, 0) > 0 {} }
            close(connection)
        }
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nX: y\r\n\r\n[1,2,3]",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n[1,\r\n0004;x=y\r\n2,3]\r\n0\r\n\r\n",
            "HTTP/1.1 200 \ncontent-length:7\n\n[1,2,3]",
        ],
        [1, 2, 3, 5, 1000]
    )
    func `a reply in any pieces is read`(reply: String, size: Int) async throws {
        let bytes = Self.bytes(reply)
        try serve(stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) })
        let body = try await Client(paths).stream("/v1/x").collect()
        #expect(String(decoding: body, as: UTF8.self) == "[1,2,3]")
    }

    @Test(
        arguments: [
            "", "HTTP/1.1 200 OK\r\nContent-Len", "hello\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n{}",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}}}\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
        ]
    )
    func `a reply that breaks off or is not HTTP is a lost connection`(reply: String) async throws {
        try serve([Self.bytes(reply)])
        #expect(await failure()?.kind == .lostConnection)
    }

    @Test func `a head without an end is not read forever`() async throws {
        try serve(
            [Self.bytes("HTTP/1.1 200 OK\r\nx: ")] + Array(repeating: Array(repeating: 0x78, count: 60_000), count: 5)
        )
        #expect(await failure()?.kind == .lostConnection)
    }

    @Test func `random replies end with a failure`() async throws {
        for seed in 0..<100 {
            var random = SeededGenerator(seed: UInt64(seed))
            var reply = Self.bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                reply[Int.random(in: 0..<reply.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            try serve([reply])
            // An empty object is not a status, so even an undamaged reply is a failure.
            #expect(await failure() != nil)
            unlink(paths.controlSocket)
        }
    }

    @Test func `a service that does not reply in time is reported`() async throws {
        try serve([Self.bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{")], thenWaiting: true)
        let failure = await #expect(throws: CommandFailure.self) {
            _ = try await Client(paths).call(Routes.status, patience: .milliseconds(50))
        }
        #expect(failure?.description == "the service does not reply; see `backgrounder log`")
    }

    @Test func `the reason of a request that is refused before it is read is shown`() async throws {
        let error = Array(try JSON.encode(WireError(.tooLarge, "the body is too large")))
        try serve([Self.bytes("HTTP/1.1 413 X\r\nContent-Length: \(error.count)\r\n\r\n") + error], afterReading: 100)
        let request = TaskRequest(name: "x", command: [String(repeating: "x", count: 9 << 20)])
        let failure = await #expect(throws: CommandFailure.self) {
            _ = try await Client(paths).call(Routes.beginTask, body: request)
        }
        #expect(failure?.description == "the body is too large")
    }

    @Test func `cancelling the task ends a stream that waits`() async throws {
        try serve([Self.bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")], thenWaiting: true)
        let body = try await Client(paths).stream("/v1/x")
        let reading = Task { try await body.collect() }
        reading.cancel()
        await #expect(throws: CommandFailure.self) { try await reading.value }
    }
}
