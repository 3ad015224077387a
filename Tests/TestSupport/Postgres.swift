import Foundation
import Synchronization

/// A PostgreSQL server for one test, in a temporary folder.
package final class Postgres: Sendable {
    private static let programs: String = {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        return "/usr/lib/postgresql/\(versions.max() ?? "none")/bin/"
    }()

    private let port: Int
    private let scratch: ScratchDirectory
    private let running = Mutex<ForegroundProcess?>(nil)

    /// Starts a server with an empty database `fleet`.
    package init() async throws {
        scratch = try ScratchDirectory()
        port = try freePort(SOCK_STREAM)
        // The server refuses to run as root.
        if getuid() == 0 { try await Tool.run("chown", "postgres", scratch.path) }
        try await Tool.run(
            words: Self.user + [
                Self.programs + "initdb", "-D", scratch.file("data"), "-A", "trust", "-U", "postgres", "--no-sync",
            ]
        )
        try await start()
        try await Tool.run(
            "\(Self.programs)createdb",
            "-h",
            "127.0.0.1",
            "-p",
            "\(port)",
            "-U",
            "postgres",
            "fleet"
        )
    }

    private static var user: [String] {
        getuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] : []
    }

    package var url: String { "postgres://postgres@127.0.0.1:\(port)/fleet" }

    /// Starts the server, and returns once it accepts connections.
    package func start() async throws {
        let words =
            Self.user + [
                Self.programs + "postgres", "-D", scratch.file("data"), "-k", scratch.path, "-p", "\(port)",
                "-c", "listen_addresses=127.0.0.1", "-c", "log_min_messages=fatal",
            ]
        // After a kill, the processes of the old server may still end.
        for _ in 0..<100 {
            let process = try ForegroundProcess("/usr/bin/env", words)
            running.withLock { $0 = process }
            for _ in 0..<50 {
                let isReady = try await ProgramRun.of(
                    "\(Self.programs)pg_isready",
                    ["-q", "-h", "127.0.0.1", "-p", "\(port)"]
                )
                if isReady.exitCode == 0 { return }
                if kill(process.pid, 0) != 0 { break }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        throw SystemCallFailure("postgres", ETIMEDOUT)
    }

    /// Ends the server: by SIGINT, which is its fast shutdown, or by SIGKILL, after which it has to recover.
    package func stop(_ signal: Int32 = SIGINT) async throws {
        guard let process = running.withLock({ $0 }) else { return }
        process.kill(signal)
        try await process.waitForEnd()
        running.withLock { $0 = nil }
    }

    /// Runs a query, and returns its rows with columns separated by `|`.
    package func rows(_ sql: String) async throws -> [String] {
        let output = try await Tool.run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, url)
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
