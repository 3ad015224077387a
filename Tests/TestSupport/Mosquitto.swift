import Foundation
import Synchronization

/// A mosquitto broker for one test, which keeps its sessions in a temporary folder.
package final class Mosquitto: Sendable {
    package let port: Int
    /// The path of its log.
    package var log: String { scratch.file("log") }
    private let scratch: ScratchDirectory
    private let running = Mutex<(process: ForegroundProcess, lines: LineReader)?>(nil)

    /// - Parameters:
    ///   - lines: Lines that are added to the configuration; `%` stands for the folder of the broker.
    ///   - files: The contents of files in the folder by name.
    package init(_ lines: [String] = ["allow_anonymous true"], files: [String: String] = [:]) async throws {
        scratch = try ScratchDirectory()
        for (name, content) in files { try scratch.write(content, to: name) }
        // Another process may take the free port before mosquitto does.
        var (port, tries) = (0, 0)
        repeat {
            port = try freePort(SOCK_STREAM)
            try Self.configure(scratch, lines, port)
            tries += 1
            do {
                let started = try await Self.run(scratch)
                running.withLock { $0 = started }
                break
            } catch let failure as SystemCallFailure where "\(failure)".contains("Address already in use") && tries < 3
            {}
        } while true
        self.port = port
    }

    private static func configure(_ scratch: ScratchDirectory, _ lines: [String], _ port: Int) throws {
        let configuration =
            [
                "user root", "persistence true", "persistence_location %/", "autosave_interval 1",
                "max_queued_messages 1000", "log_dest stderr", "log_dest file %/log", "listener \(port) 127.0.0.1",
            ] + lines
        let text = configuration.joined(separator: "\n").replacingOccurrences(of: "%", with: scratch.path)
        try scratch.write(text + "\n", to: "mosquitto.conf")
    }

    package func start() async throws {
        let started = try await Self.run(scratch)
        running.withLock { $0 = started }
    }

    private static func run(
        _ scratch: ScratchDirectory
    ) async throws -> (process: ForegroundProcess, lines: LineReader) {
        let pipe = try PipeEnds()
        let process = try ForegroundProcess(
            "/usr/sbin/mosquitto",
            ["-c", scratch.file("mosquitto.conf")],
            descriptors: [2: pipe.writeEnd]
        )
        close(pipe.writeEnd)
        let lines = LineReader(pipe.readEnd)
        try await lines.wait(for: "mosquitto", within: 20) { lines, isAtEnd in
            if isAtEnd { throw SystemCallFailure("mosquitto: \(lines)", ECHILD) }
            return lines.contains { $0.contains("running") } ? true : nil
        }
        return (process, lines)
    }

    /// Returns once the broker has logged `words` since its start.
    package func wait(for words: String) async throws {
        guard let lines = running.withLock({ $0?.lines }) else { throw SystemCallFailure("mosquitto", ECHILD) }
        try await lines.wait(for: words) { lines, _ in lines.contains { $0.contains(words) } ? true : nil }
    }

    package func signal(_ number: Int32) { running.withLock { $0?.process.kill(number) } }

    /// Stops the broker by SIGTERM; it keeps its sessions.
    package func stop() async throws {
        guard let process = running.withLock({ $0?.process }) else { return }
        process.kill(SIGTERM)
        try await process.waitForEnd()
        running.withLock { $0 = nil }
    }

    package func restart() async throws {
        try await stop()
        try await start()
    }

    /// Sends messages of QoS 1, each on a connection of its own, and returns once the broker has them.
    package func publish(
        _ payloads: String...,
        topic: String = "t",
        retained: Bool = false,
        options: [String] = []
    ) async throws {
        for payload in payloads {
            try await Tool.run(
                words: ["mosquitto_pub", "-h", "localhost", "-p", "\(port)", "-q", "1", "-t", topic, "-m", payload]
                    + (retained ? ["-r"] : []) + options
            )
        }
    }

    /// Sends messages of QoS 1 on one connection.
    package func publish(_ payloads: [String]) async throws {
        let file = try scratch.write(payloads.joined(separator: "\n") + "\n", to: "payloads")
        try await Tool.run("sh", "-c", "mosquitto_pub -h localhost -p \(port) -q 1 -t t -l < '\(file)'")
    }
}

/// A self-signed certificate for `localhost`.
package enum Certificate {
    /// Creates the files `cert` and `key`.
    package static func make(in scratch: ScratchDirectory) async throws {
        let kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        let name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        let files = ["-keyout", scratch.file("key"), "-out", scratch.file("cert")]
        try await Tool.run(words: ["openssl", "req"] + kind + name + files)
    }
}
