import BackgrounderAPI
import Foundation
import Synchronization
import TestSupport
import Testing

/// `kill -9` at random moments of downloads from servers with every fault.
@Suite(.sharingLong) struct TransferCrashTests {
    private static let kills =
        ProcessInfo.processInfo.environment["BACKGROUNDER_TRANSFER_KILLS"].flatMap { Int($0) } ?? 200
    private static let services = 4

    @Test(.timeLimit(.minutes(10)))
    func `after 200 kills no file is mixed, lost or visible before it is whole; little comes twice`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<Self.services {
                group.addTask { try await Chaos(seed: UInt64(number + 1)).run(kills: Self.kills / Self.services) }
            }
            try await group.waitForAll()
        }
    }

    @Test func `a transfer starts over where curl, wget and aria2 join two versions of a file`() async throws {
        let scratch = try ScratchDirectory()
        var lines: [String] = []
        let size = 400_000
        func server() throws -> (TestWebServer, TestWebFile) {
            let server = try TestWebServer()
            let file = TestWebFile(size: size, seed: 5) {
                ($0.cuts, $0.mostCuts, $0.changesEach) = (150_000...150_000, 1, 1)
            }
            // curl resumes only with Accept-Ranges.
            file.behaviour.withLock { $0.headers = ["Accept-Ranges": "bytes"] }
            server.on("/f", file.script)
            return (server, file)
        }
        for (name, words) in [
            ("curl -C -", ["curl", "-sS", "-C", "-", "-o", "OUT", "URL"]),
            ("wget -c", ["wget", "-q", "-c", "-O", "OUT", "--waitretry=1", "URL"]),
            ("aria2c -c", ["aria2c", "-q", "-c", "-x1", "--retry-wait=1", "-d", "DIR", "-o", "NAME", "URL"]),
        ] {
            let (server, file) = try server()
            let out = scratch.file(words[0])
            let arguments = words.map {
                $0 == "OUT"
                    ? out : $0 == "URL" ? server.url("/f") : $0 == "DIR" ? scratch.path : $0 == "NAME" ? words[0] : $0
            }
            var code: Int32 = 0
            // Like a user who retries until the program reports success.
            for _ in 1...3 {
                code = try await ProgramRun.of("/usr/bin/env", arguments, within: 60).exitCode
                if code == 0 { break }
            }
            let bytes = Array(FileManager.default.contents(atPath: out) ?? Data())
            let what = file.isVersion(bytes) ? "one version" : "\(bytes.count) bytes, not one version"
            lines.append("\(name): exit code \(code), \(what)")
            #expect(code == 0, "\(lines.last ?? "")")
            #expect(bytes.count == size, "\(lines.last ?? "")")
            #expect(!file.isVersion(bytes), "\(lines.last ?? "")")
        }
        let service = try Service(TestConfiguration(modes: "[]", rest: ["transfers: {allowHTTP: [127.0.0.1]}"]))
        try await service.start()
        let (server, file) = try server()
        try await service.run("transfer", "get", server.url("/f"), service.file("downloads/f"), "--wait")
        let bytes = Array(FileManager.default.contents(atPath: service.file("downloads/f")) ?? Data())
        #expect(file.isVersion(bytes))
        lines.append("backgrounder transfer get: exit code 0, one version")
        Attachment.record(lines.joined(separator: "\n"), named: "two-versions.txt")
    }
}

/// A service that is killed repeatedly, and its downloads.
private final class Chaos {
    private struct Expected {
        var file: TestWebFile
        /// Whether the server allows resuming, so that little is sent twice.
        var isThrifty: Bool
        /// The kills that followed until the end.
        var kills: Int
        var id: Int?
    }

    private let service: Service
    private let server: TestWebServer
    private var random: SeededGenerator
    private var files: [String: Expected] = [:]
    private var verified: Set<String> = []

    init(seed: UInt64) throws {
        service = try Service(TestConfiguration(modes: "[]", rest: ["transfers: {allowHTTP: [127.0.0.1]}"]))
        server = try TestWebServer(sendBuffer: 4096)
        random = SeededGenerator(seed: seed)
    }

    func run(kills: Int) async throws {
        for round in 1...kills {
            let launch = try ServiceLaunch(service)
            let diesEarly = round.isMultiple(of: 5)
            if diesEarly { launch.kill(after: .random(in: 0.02...0.3, using: &random)) }
            if try await launch.isReady(), !diesEarly {
                if files.count < 10 || round.isMultiple(of: 7) { try await begin(before: kills - round + 1) }
                // Bytes that arrive while it is stopped are lost at the kill.
                if round.isMultiple(of: 3) {
                    try await Task.sleep(for: .seconds(.random(in: 0...0.3, using: &random)))
                    launch.send(SIGSTOP)
                    launch.kill(after: 0.2)
                } else {
                    launch.kill(after: .random(in: 0...0.3, using: &random))
                }
            }
            try await launch.waitForEnd()
            try checkFolder()
        }
        try await service.start()
        let events = try service.events()
        try await events.wait(forState: "end of all transfers", within: 120) { $0.status.transfers == nil }
        try checkFolder()
        let transfers: [Transfer] = try await service.json("transfer", "list")
        let told: [TransferEvent] = try await service.json("transfer", "events", "default")
        for (name, expected) in files {
            let transfer = transfers.first { $0.destination.hasSuffix("/" + name) }
            // A transfer whose request got no reply may or may not exist.
            guard let id = expected.id ?? transfer?.id else { continue }
            #expect(transfer?.state == .done, "\(name): \(transfer.map { "\($0)" } ?? "lost")")
            #expect(verified.contains(name), "\(name) is missing")
            #expect(told.filter { $0.transfer == id }.map(\.state) == ["done"])
            let (file, size) = (expected.file, Double(expected.file.size))
            if expected.isThrifty {
                // A server that has sent the end of a body does not see that the service was killed before it read it.
                let interruptions = max(file.broken, file.requests - 1)
                let most = size * 1.03 + 32_768 * Double(interruptions)
                #expect(
                    Double(file.sent) <= most,
                    "\(name): \(file.sent) of \(file.size), \(interruptions) interruptions"
                )
                #expect(file.requests <= 1 + expected.kills + file.cuts, "\(name): \(file.requests) requests")
            }
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: service.file("downloads")).sorted() == verified.sorted()
        )
        #expect(files.values.count { $0.file.broken > 0 } > 3, "too few downloads were interrupted")
    }

    /// Begins another transfer, before this number of kills. The service may be killed before it replies.
    private func begin(before kills: Int) async throws {
        let number = files.count
        let name = "file-\(number).bin"
        let size = Int.random(in: 200_000...1_500_000, using: &random)
        let file = TestWebFile(size: size, seed: UInt64(number) + random.next() % 1000 * 1000) { $0.rate = 3_000_000 }
        var isThrifty = true
        switch number % 6 {
        case 1: file.behaviour.withLock { $0.validators = .date }
        case 2: file.behaviour.withLock { $0.cuts = 60_000...300_000 }
        case 3:
            file.behaviour.withLock { ($0.cuts, $0.changesEach, $0.mostCuts) = (60_000...300_000, 3, 6) }
            isThrifty = false
        case 4:
            file.behaviour.withLock { ($0.ignoresRange, $0.rate) = (true, 10_000_000) }
            isThrifty = false
        case 5:
            file.behaviour.withLock { ($0.rangeLie, $0.cuts, $0.mostCuts) = (3, 60_000...300_000, 2) }
            isThrifty = false
        default: break
        }
        server.on("/" + name, file.script)
        files[name] = Expected(file: file, isThrifty: isThrifty, kills: kills)
        let request = TransferRequest(url: server.url("/" + name), destination: service.file("downloads/" + name))
        let connection = try service.connection()
        let reply = try await connection.send("POST", "/v1/transfers", body: try JSON.line(request))
        try #require(reply.status == 201, "\(reply.text)")
        files[name]?.id = try JSON.decode(Transfer.self, from: Data(reply.body)).id
    }

    /// Expects every file with a final name to be whole.
    private func checkFolder() throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: service.file("downloads"))) ?? []
        for name in names where !name.hasPrefix(".") && !verified.contains(name) {
            let bytes = Array(FileManager.default.contents(atPath: service.file("downloads/" + name)) ?? Data())
            let expected = try #require(files[name], "\(name) is not the file of a transfer")
            #expect(
                expected.file.isVersion(bytes),
                "\(name) is not one version: \(bytes.count) of \(expected.file.size) bytes"
            )
            verified.insert(name)
        }
    }
}
