import Foundation
import TestSupport
import Testing

/// A pulseaudio for one test, with a null sink and its own home.
final class SoundServer {
    private static let sink = "silent"

    private let scratch: ScratchDirectory
    private var process: ForegroundProcess

    init() async throws {
        scratch = try ScratchDirectory()
        process = try await Self.run(in: scratch)
    }

    /// The environment variables with which clients find this server.
    var environment: [String: String] {
        ["PULSE_SERVER": "unix:\(scratch.file("socket"))", "HOME": scratch.path, "XDG_RUNTIME_DIR": scratch.path]
    }

    func send(_ signal: Int32) { process.kill(signal) }

    /// Kills the server with SIGKILL.
    func crash() async throws {
        process.kill()
        try await process.waitForEnd()
    }

    /// Starts the server again at the same socket.
    func restart() async throws {
        process = try await Self.run(in: scratch)
    }

    /// Removes the sink while clients play into it.
    func unloadSink() async throws { try await control("unload-module", "module-null-sink") }

    func loadSink() async throws { try await control("load-module", "module-null-sink", "sink_name=\(Self.sink)") }

    private func control(_ words: String...) async throws {
        let run = try await ProgramRun.of(Programs.pactl, words, environment: environment)
        try #require(run.exitCode == 0, "\(run)")
    }

    /// Starts recording the sink's input into a file of raw samples.
    func record(to path: String) async throws -> ForegroundProcess {
        let errors = try PipeEnds()
        let recorder = try ForegroundProcess(
            Programs.parec,
            [
                "-v", "--device=\(Self.sink).monitor", "--rate=44100", "--format=s16le", "--channels=2",
                "--latency-msec=50", "--raw", path,
            ],
            environment: environment,
            descriptors: [2: errors.writeEnd]
        )
        close(errors.writeEnd)
        try await LineReader(errors.readEnd).wait(for: "recording") { lines, _ in
            lines.contains { $0.contains("Stream successfully created") } ? true : nil
        }
        return recorder
    }

    private static func run(in scratch: ScratchDirectory) async throws -> ForegroundProcess {
        let errors = try PipeEnds()
        let process = try ForegroundProcess(
            Programs.pulseaudio,
            [
                "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--log-target=stderr", "-v",
                "--load=module-null-sink sink_name=\(sink) rate=44100 format=s16le channels=2",
                "--load=module-native-protocol-unix socket=\(scratch.file("socket")) auth-anonymous=1",
            ],
            environment: ["HOME": scratch.path, "XDG_RUNTIME_DIR": scratch.path, "PATH": "/usr/bin:/bin"],
            descriptors: [2: errors.writeEnd]
        )
        close(errors.writeEnd)
        try await LineReader(errors.readEnd).wait(for: "sound server") { lines, _ in
            lines.contains { $0.contains("Daemon startup complete") } ? true : nil
        }
        return process
    }
}
