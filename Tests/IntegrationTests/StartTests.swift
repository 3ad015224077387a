import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// The descriptors that a service inherits, and `start` and `audio play` with and without a running service.
@Suite(.sharing) struct StartTests {
    @Test func `the service inherits none of the open descriptors of its caller`() async throws {
        let service = try Service(TestConfiguration())
        let pipe = try PipeEnds()
        let start = try ForegroundProcess(
            Products.backgrounder,
            ["start"],
            environment: service.environment,
            descriptors: [3: pipe.writeEnd, 9: pipe.writeEnd, 200: pipe.writeEnd]
        )
        close(pipe.writeEnd)
        #expect(try await start.waitForEnd() == 0)
        #expect(service.pid != nil)
        // The pipe ends once no process has its write end open.
        try await LineReader(pipe.readEnd).wait(for: "end of the pipe") { $1 ? true : nil }
        #expect(service.pid != nil)
    }

    @Test(arguments: [
        "--source gpsd://localhost:1", "--source gpsd://localhost", "--source gpsd://localhost/",
        "--source gpsd://[::1]", "--source gpsd://127.0.0.1/dev/ttyS7", "--source gpx:walk.gpx",
        "--source gpx:./sub/../walk.gpx?rate=1", "--source gpx:walk.gpx?rate=1.0",
        "--source gpx:walk.gpx?rate=2.50",
        "--source gpx:walk.gpx?rate=max", "--driver null", "--driver auto", "--driver wav:out.wav",
        "--driver raw:./sub/../out.raw", "--config sub/../config.yaml",
        "--config config.yaml --source gpx:walk.gpx?rate=1 --driver wav:sub/out.wav",
    ]
    )
    func `starting again with equivalent options reports the running service`(options: String) async throws {
        let service = try Service(TestConfiguration())
        try FileManager.default.createSymbolicLink(
            atPath: service.file("walk.gpx"),
            withDestinationPath: Samples.walk
        )
        try FileManager.default.createDirectory(atPath: service.file("sub"), withIntermediateDirectories: false)
        func start() async throws -> ProgramRun {
            try await ProgramRun.of(
                Programs.shell,
                ["-c", "cd '\(service.home)' && set -f && exec \"$0\" start $1", Products.backgrounder, options],
                environment: service.environment
            )
        }
        let first = try await start()
        try #require(first.exitCode == 0, "\(first)")
        try #require(first.text.hasPrefix("started, pid "), "\(first)")
        let pid = try #require(service.pid)
        let second = try await start()
        #expect(second.exitCode == 0, "\(second)")
        #expect(second.text == "already running, pid \(pid)\n", "\(second)")
        #expect(second.errors.isEmpty)
        #expect(service.pid == pid)
    }

    @Test func `audio play starts the service if needed, but only for a file that can be played`() async throws {
        let service = try Service(TestConfiguration())
        let nothing = try await service.command(["audio", "play"])
        #expect(nothing.exitCode == 3, "\(nothing)")
        #expect(service.pid == nil, "\(nothing)")
        let missing = try await service.command(["audio", "play", "/no/such/file.mp3"])
        #expect(missing.exitCode == 4, "\(missing)")
        #expect(missing.errors.contains("/no/such/file.mp3"), "\(missing)")
        let pipe = service.home + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let refused = try await service.command(["audio", "play", pipe])
        #expect(refused.exitCode == 4, "\(refused)")
        #expect(refused.errors.contains("a FIFO cannot be played"), "\(refused)")
        #expect(service.pid == nil)
        let file = Products.repository("media/quiet-waltz.mp3")
        let run = try await service.command(["audio", "play", file, "--format", "json"])
        let pid = try #require(service.pid, "\(run)")
        #expect(run.errors.contains("started the service, pid \(pid)"), "\(run)")
        let status = try JSON.decode(AudioStatus.self, from: run.output)
        #expect(status.timeControlStatus == .playing)
        #expect(status.currentItem?.path == file)
    }
}
