import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// Downloads and uploads over TLS.
@Suite(.sharing) struct SecureTransferTests {
    private let scratch: ScratchDirectory
    private let service: Service

    init() async throws {
        scratch = try ScratchDirectory()
        try await Certificate.make(in: scratch)
        service = try Service(TestConfiguration(modes: "[fetch]"))
    }

    private var trusting: [String: String] { ["SSL_CERT_FILE": scratch.file("cert")] }

    @Test func `a TLS download survives six stops and kills and transfers little data twice`() async throws {
        let content = TestWebFile(size: 1_500_000, seed: 1).content()
        let server = try await SecureServer(showing: content, bytesPerSecond: 300_000, in: scratch)
        let path = service.file("downloads/f")
        var before: Int64 = 0
        for round in 1...6 {
            let launch = try ServiceLaunch(service, adding: trusting)
            #expect(try await launch.isReady())
            if round == 1 { try await service.run("transfer", "get", "\(server.url)/f", path) }
            try await service.events().wait(for: "more bytes in round \(round)", within: 60) { received in
                let counts = try received.payloads("transfer").map { payload in
                    try JSON.decode(Transfer.self, from: Data(payload.utf8)).received
                }
                guard let last = counts.last, last > before else { return nil as Bool? }
                before = last
                return true
            }
            // Bytes that arrive while it is stopped are lost at the kill.
            launch.send(SIGSTOP)
            try await Task.sleep(for: .milliseconds(200))
            launch.send(SIGKILL)
            try await launch.waitForEnd()
        }
        try await service.start(adding: trusting)
        try await service.events().wait(forState: "the end", within: 60) { $0.status.transfers == nil }
        #expect(FileManager.default.contents(atPath: path).map(Array.init) == content)
        let connections = try await server.connections { $0.contains { $0.isWhole } }
        let broken = connections.count { !$0.isWhole }
        #expect(broken >= 6, "\(connections)")
        #expect(connections.map(\.start).filter { $0 > 0 }.count >= 5, "\(connections)")
        // The bound includes the overhead of TLS and of the HTTP headers.
        let bytes = connections.map(\.acknowledged).reduce(0, +)
        #expect(Double(bytes) <= 1.03 * Double(content.count) + 32_768 * Double(broken), "\(connections)")
    }

    @Test func `transfers and fetches work over TLS and require the right host name`() async throws {
        let content = TestWebFile(size: 300_000, seed: 2).content()
        let server = try await SecureServer(showing: content, bytesPerSecond: 50_000_000, in: scratch)
        try await service.start(adding: trusting)
        let file = try scratch.write(content, to: "sent")
        try await service.run("transfer", "put", file, "\(server.url)/in", "--wait")
        let digest = String(decoding: try await Tool.run("sha256sum", file).prefix(64), as: UTF8.self)
        let lines = try await server.lines { $0.contains { $0.hasPrefix("put") } }
        #expect(lines.contains("put 300000 \(digest)"), "\(lines)")
        try await service.run("fetch", "add", "f", "--url", "\(server.url)/f", "--kind", "raw")
        let fetched = try await service.run("fetch", "run", "f")
        #expect(fetched.text.contains("New data"), "\(fetched)")
        let wrong = server.url.replacing("localhost", with: "127.0.0.1")
        try await service.run("transfer", "get", "\(wrong)/f", service.file("downloads/f"))
        try await expect("the connection to 127.0.0.1 failed: the certificate is for another host name")
        // A truncated reply without a length must not count as complete.
        try await service.run("transfer", "get", "\(server.url)/unsized", service.file("downloads/unsized"))
        try await expect("it was cut off")
        #expect(!FileManager.default.fileExists(atPath: service.file("downloads/unsized")))
    }

    @Test func `an untrusted certificate and an unusable certificate file are refused`() async throws {
        let server = try await SecureServer(showing: [1], bytesPerSecond: 1_000_000, in: scratch)
        for (file, says) in [
            (nil, "certificate verify failed"),
            ("nowhere", "SSL_CERT_FILE does not name a certificate file: \(scratch.file("nowhere"))"),
            ("text", "SSL_CERT_FILE does not name a certificate file: \(scratch.file("text"))"),
        ] {
            try scratch.write("no certificate", to: "text")
            try await service.start(adding: file.map { ["SSL_CERT_FILE": scratch.file($0)] } ?? [:])
            try await service.run("transfer", "get", "\(server.url)/f", service.file("downloads/f"))
            try await expect(says)
            try await service.run("stop")
        }
    }

    /// Waits until an open transfer has an error that contains `reason`.
    private func expect(_ reason: String) async throws {
        try await service.events().wait(forState: reason, within: 60) { state in
            let errors = state.status.transfers?.compactMap(\.error) ?? []
            return errors.contains { $0.contains(reason) && !$0.contains(".cc") }
        }
    }
}

/// A program that serves one file over TLS.
private final class SecureServer: Sendable {
    struct Connection {
        var start: Int
        var acknowledged: Int
        var isWhole: Bool

        init?(_ line: String) {
            let words = line.split(separator: " ")
            guard words.count == 4, words[0] == "get", let start = Int(words[1]), let count = Int(words[2]) else {
                return nil
            }
            (self.start, acknowledged, isWhole) = (start, count, words[3] == "whole")
        }
    }

    let url: String
    private let process: ForegroundProcess
    private let output: LineReader

    init(showing content: [UInt8], bytesPerSecond rate: Int, in scratch: ScratchDirectory) async throws {
        let file = try scratch.write(content, to: "content")
        let pipe = try PipeEnds()
        process = try ForegroundProcess(
            Programs.python,
            [
                Products.repository("Tests/Reference/https_server.py"), scratch.file("cert"), scratch.file("key"), file,
                "\(rate)",
            ],
            descriptors: [1: pipe.writeEnd]
        )
        close(pipe.writeEnd)
        let output = LineReader(pipe.readEnd)
        self.output = output
        let port = try await output.wait(for: "a port") { lines, _ in
            lines.first.flatMap { $0.hasPrefix("port ") ? $0.dropFirst(5) : nil }
        }
        url = "https://localhost:\(port)"
    }

    func lines(when isReady: @escaping @Sendable ([String]) -> Bool) async throws -> [String] {
        try await output.wait(for: "the server's output") { lines, _ in isReady(lines) ? lines : nil }
    }

    /// Returns the replies so far as soon as `isReady` accepts them.
    func connections(when isReady: @escaping @Sendable ([Connection]) -> Bool) async throws -> [Connection] {
        try await output.wait(for: "the server's output") { lines, _ in
            let connections = lines.compactMap(Connection.init)
            return isReady(connections) ? connections : nil
        }
    }
}
