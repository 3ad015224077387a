import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// The service of one test: its home, its commands and its process, which end with the last reference.
///
///     let service = try Service(source: "gpx:\(Products.repository("tracks/city-walk.gpx"))?rate=50")
///     try await service.start()
///     let status: ServiceStatus = try await service.json("status")
final class Service: Sendable {
    let scratch: ScratchDirectory
    let environment: [String: String]

    /// Creates a home with a configuration; nothing runs yet.
    ///
    /// - Parameter queue: absolute paths.
    init(source: String, queue: [String] = [], autoplay: Bool = false) throws {
        scratch = try ScratchDirectory()
        // The home applies to commands and service; the caller's settings must not reach them.
        let foreign = [
            "STATE_DIRECTORY", "RUNTIME_DIRECTORY", "CONFIGURATION_DIRECTORY", "JOURNAL_STREAM", "NOTIFY_SOCKET",
        ]
        environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.hasPrefix("BACKGROUNDER_") && !foreign.contains($0.key) }
            .merging(["BACKGROUNDER_HOME": scratch.path]) { $1 }
        try scratch.write(
            """
            modes: [audio, location]
            location:
              source: \(try JSON.line(source))
              usageDescription: Shows that what the service promises holds
            audio:
              driver: "null"
              queue: \(try JSON.line(queue))
              autoplay: \(autoplay)
            log: {progress: every}
            transfers: {allowHTTP: [127.0.0.1]}

            """,
            to: "config.yaml"
        )
    }

    deinit { endNow() }

    var home: String { scratch.path }
    var paths: RuntimePaths { RuntimePaths(home: home, environment: [:], userID: 0) }

    /// Runs `backgrounder` with `arguments`, without checking its exit code.
    func command(_ arguments: [String], within seconds: Double = 30) async throws -> ProgramRun {
        try await ProgramRun.of(Products.backgrounder, arguments, environment: environment, within: seconds)
    }

    /// Runs `backgrounder` with `arguments`, which must succeed.
    @discardableResult
    func run(_ arguments: String...) async throws -> ProgramRun { try await run(arguments) }

    @discardableResult
    func run(_ arguments: [String]) async throws -> ProgramRun {
        let run = try await command(arguments)
        try #require(run.exitCode == 0, "\(run)")
        return run
    }

    /// Runs a command with `--format json` and decodes its output.
    func json<Value: Decodable>(_ arguments: String..., as type: Value.Type = Value.self) async throws -> Value {
        let run = try await command(arguments + ["--format", "json"])
        try #require(run.exitCode == 0, "\(run)")
        return try JSON.decode(Value.self, from: run.output)
    }

    /// Starts the detached service with `backgrounder start`.
    ///
    /// - Returns: the process id of the service.
    @discardableResult
    func start() async throws -> pid_t {
        let text = try await run("start").text
        return try #require(text.split(separator: " ").last.flatMap { pid_t($0.dropLast()) }, "\(text)")
    }

    /// The process id of the home's service, or `nil` if the lock is free.
    var pid: pid_t? {
        let descriptor = open(paths.lock, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) == 0 ? nil : InstanceRecord.read(paths.instance)?.pid
    }

    /// Kills the service with SIGKILL and returns when it is gone.
    func crash() async throws {
        try #require(pid != nil, "no service to kill")
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                endNow()
                continuation.resume()
            }
        }
    }

    /// Opens the service's event stream, `/v1/events`.
    func events(attach: Bool = false, observe: String? = nil) throws -> ServiceEvents {
        try ServiceEvents(socket: paths.controlSocket, attach: attach, observe: observe)
    }

    /// Returns when the source file has been replayed.
    ///
    /// The service drops a reader that cannot keep up with a flood of points, so this reconnects.
    func waitForEndOfTrack() async throws {
        while true {
            let events = try events()
            do {
                try await events.wait(forState: "end of the track") { $0.status.location?.connection == .finished }
                events.detach()
                _ = try await events.waitForEnd()
                return
            } catch is StreamEnded {
                try #require(pid != nil, "the service has ended")
            }
        }
    }

    private func endNow() {
        guard let pid else { return }
        kill(pid, SIGKILL)
        let descriptor = open(paths.lock, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        // The kernel releases the lock when the process is gone.
        while flock(descriptor, LOCK_SH) != 0, errno == EINTR {}
    }
}
