import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// `restart`, which stops the service only if it can start it again.
@Suite(.sharing) struct RestartTests {
    @Test func `restart starts a new process with the options of the old one`() async throws {
        let service = try Service(TestConfiguration())
        let options = ["--source", "gpx:\(Samples.walk)", "--driver", "wav:\(service.file("out.wav"))"]
        try await service.run(["start"] + options)
        try await service.run("audio", "volume", "37")
        let first = try #require(service.pid)
        try await service.run("reload")
        let run = try await service.run("restart")
        let second = try #require(service.pid)
        #expect(run.text == "restarted, pid \(second)\n")
        #expect(second != first)
        let record = try #require(InstanceRecord.read(service.paths.instance))
        #expect(record.options == options)
        #expect(record.source == options[1])
        #expect(record.driver == options[3])
        #expect(try await service.json("audio", as: AudioStatus.self).volume == 37)
    }

    @Test func `restart needs a running service`() async throws {
        let service = try Service(TestConfiguration())
        try await service.command(["restart"]).expectRefusal(3, ["not running", "backgrounder start"])
        try await service.start()
        try await service.crash()
        try await service.command(["restart"]).expectRefusal(3, ["not running", "backgrounder start"])
    }

    @Test func `a faulty configuration keeps restart from stopping the service`() async throws {
        let service = try Service(TestConfiguration())
        let pid = try await service.start()
        try service.configure(yaml: "mode: [audio]\n")
        let run = try await service.command(["restart"])
        run.expectRefusal(1, ["config.yaml:1", "unknown key mode", "the service, pid \(pid), continues"])
        #expect(service.pid == pid)
    }

    @Test func `restart refuses a service that another program started`() async throws {
        let service = try Service(TestConfiguration())
        let (process, _) = try service.foreground()
        defer { process.kill() }
        try await FileWatch(service.paths.log).wait(for: "Ready on")
        let run = try await service.command(["restart"])
        run.expectRefusal(1, ["pid \(process.pid), was not started with `backgrounder start`", "systemctl restart"])
        #expect(service.pid == process.pid)
    }

    @Test func `restart refuses a service that records, as a recording is a new file`() async throws {
        let service = try Service(TestConfiguration())
        let path = service.file("drive.jsonl")
        try await service.run("start", "--source", "gpsd://localhost:1", "--record", path)
        let pid = try #require(service.pid)
        try await service.command(["restart"]).expectRefusal(
            1,
            ["records to \(path)", "backgrounder stop", "--record"]
        )
        #expect(service.pid == pid)
    }

    @Test func `a start that fails after the stop says that the service is stopped`() async throws {
        let service = try Service(TestConfiguration())
        let pid = try await service.start()
        let socket = service.paths.run + "/mpd.sock"
        try FileManager.default.removeItem(atPath: socket)
        try FileManager.default.createDirectory(atPath: socket, withIntermediateDirectories: false)
        let run = try await service.command(["restart"])
        run.expectRefusal(1, ["stopped, pid \(pid), but cannot start again: "])
        #expect(service.pid == nil)
    }
}
