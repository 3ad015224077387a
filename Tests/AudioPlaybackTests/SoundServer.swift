import Foundation
import TestSupport
import Testing

/// A private PulseAudio server with a silent sink. Use one at a time: its address is in this process's environment.
final class SoundServer {
    private static let scratch: ScratchDirectory = {
        // A constant cannot throw, and without a folder there is nothing to test.
        // swift-format-ignore: NeverUseForceTry
        let scratch = try! ScratchDirectory()
        setenv("PULSE_SERVER", "unix:\(scratch.file("socket"))", 1)
        return scratch
    }()
    static var socket: String { scratch.file("socket") }
    private static var address: String { "unix:\(socket)" }

    private var process: ForegroundProcess?
    private var recorder: ForegroundProcess?

    /// Points this process at a server that does not exist yet.
    static func announce() { _ = scratch }

    init() async throws {
        let scratch = Self.scratch
        process = try Tool.start(
            "pulseaudio",
            "-n",
            "--daemonize=no",
            "--use-pid-file=no",
            "--exit-idle-time=-1",
            "--load=module-null-sink sink_name=silent rate=44100 format=s16le channels=2",
            "--load=module-native-protocol-unix socket=\(scratch.file("socket")) auth-anonymous=1",
            environment: ["HOME": scratch.path, "XDG_RUNTIME_DIR": scratch.path]
        )
        let deadline = ContinuousClock.now + .seconds(15)
        while (try? await Tool.run("pactl", "--server", Self.address, "info")) == nil {
            try #require(ContinuousClock.now < deadline, "pulseaudio answers")
        }
    }

    func send(_ signal: CInt) { process?.kill(signal) }

    func end() { process = nil }

    /// Records the sink's input into a file of raw samples.
    func record(to path: String) async throws {
        recorder = try Tool.start(
            "parec",
            "--server",
            Self.address,
            "--device",
            "silent.monitor",
            "--rate",
            "44100",
            "--format",
            "s16le",
            "--channels",
            "2",
            "--latency-msec",
            "50",
            "--raw",
            path
        )
        let deadline = ContinuousClock.now + .seconds(10)
        func size() -> Int { (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0 }
        while size() == 0 {
            // Each query starts a process, which paces the loop.
            _ = try await Tool.run("pactl", "--server", Self.address, "info")
            try #require(ContinuousClock.now < deadline, "parec records")
        }
    }

    /// Ends the recording in `path` once it ends in silence, and so has everything that was played.
    func stopRecording(_ path: String) async throws {
        let silence = 44_100 * 2 * 2 / 4
        let deadline = ContinuousClock.now + .seconds(10)
        while true {
            let recorded = try Data(contentsOf: URL(fileURLWithPath: path))
            if recorded.count > silence, recorded.suffix(silence).allSatisfy({ $0 == 0 }) { break }
            try #require(ContinuousClock.now < deadline, "the recording ends in silence")
            // parec does not report its progress, so poll the file.
            try await Task.sleep(for: .milliseconds(50))
        }
        recorder = nil
    }
}
