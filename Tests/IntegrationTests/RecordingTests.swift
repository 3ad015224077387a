import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// What gpsd said, recorded beside the tracking and replayed later.
@Suite(.sharing) struct RecordingTests {
    @Test(
        "A recording of a real gpsd, replayed, gives exactly the points that the service stored",
        arguments: ["tunnel-gap", "bad-fixes"]
    )
    func service(track: String) async throws {
        let receiver = try Receiver()
        let gpsd = try receiver.startGPSD()
        let service = try Service(source: receiver.source)
        let recording = service.scratch.file("gpsd.jsonl")
        try await service.run("start", "--record", recording)
        let events = try service.events()
        try await events.wait(forState: "connection") { $0.status.location?.connection == .connected }
        let file = Products.repository("tracks/\(track).gpx")
        _ = try await receiver.feed(file, "--rate", "150", "--as-is").waitForEnd()
        gpsd.kill(SIGTERM)
        let lost = try await events.wait(forState: "end of gpsd") { $0.status.location?.connection == .waiting }
        let status = try #require(lost.status.location)
        #expect(status.accepted > 30)
        // However it ends, it is all there.
        try await service.crash()
        try await service.start()
        let history: [Location] = try await service.json("track", "history")

        let source = "gpsd-log:\(recording)"
        let run = try await ProgramRun.of(Products.backgrounder, ["track", "replay", source, "--format", "json"])
        try #require(run.exitCode == 0, "\(run)")
        let points = try JSON.decode([IndexedLocation].self, from: run.output)
        let ordered = points.sorted { ($0.location.timestamp, $0.index) < ($1.location.timestamp, $1.index) }
        #expect(ordered.map(\.location) == history)
        let rejected = try await ProgramRun.of(Products.backgrounder, ["track", "replay", source, "--rejected"])
        #expect(rejected.text.split(separator: "\n").count == status.rejected.total)

        // The same as a source of a service, and its expectations hold.
        let other = try Service(source: "\(source)?rate=max")
        try await other.start()
        let end = try await other.events().wait(forState: "end of the log") {
            $0.status.location?.connection == .finished
        }
        #expect(end.status.location?.rejected == status.rejected)
        #expect(try await other.json("track", "history") == history)
    }

    @Test("track replay of a live gpsd prints what it accepts and records it; --for ends it")
    func live() async throws {
        let receiver = try Receiver()
        let gpsd = try receiver.startGPSD()
        let scratch = try ScratchDirectory()
        let path = scratch.file("gpsd.jsonl")
        async let run = ProgramRun.of(
            Products.backgrounder,
            ["track", "replay", receiver.source, "--record", path, "--for", "10s", "--format", "json"]
        )
        _ = try await receiver.feed(Products.repository("tracks/city-walk.gpx"), "--rate", "20", "--count", "160")
            .waitForEnd()
        let ended = try await run
        #expect(ended.exitCode == 0, "\(ended)")
        let points = try JSON.decode([IndexedLocation].self, from: ended.output)
        #expect(points.count > 20)
        let again = try await ProgramRun.of(
            Products.backgrounder,
            ["track", "replay", "gpsd-log:\(path)", "--format", "json"]
        )
        #expect(again.output == ended.output)
        withExtendedLifetime(gpsd) {}
    }

    @Test("Ctrl-C ends a live replay with its summary; one that is killed leaves whole lines")
    func ends() async throws {
        for signal in [SIGINT, SIGKILL] {
            let receiver = try Receiver()
            let gpsd = try receiver.startGPSD()
            let scratch = try ScratchDirectory()
            let path = scratch.file("gpsd.jsonl")
            let (output, errors) = (try PipeEnds(), try PipeEnds())
            let replay = try ForegroundProcess(
                Products.backgrounder,
                ["track", "replay", receiver.source, "--record", path],
                descriptors: [1: output.writeEnd, 2: errors.writeEnd]
            )
            close(output.writeEnd)
            close(errors.writeEnd)
            let (points, said) = (LineReader(output.readEnd), LineReader(errors.readEnd))
            let feed = try receiver.feed(Products.repository("tracks/city-walk.gpx"), "--rate", "20")
            let shown = try await points.wait(for: "20 points", within: 60) { lines, _ in
                lines.count >= 20 ? lines.count : nil
            }
            replay.kill(signal)
            let code = try await replay.waitForEnd()
            #expect(code == (signal == SIGINT ? 0 : 128 + SIGKILL))
            if signal == SIGINT {
                try await said.wait(for: "summary") { $1 && $0.last?.contains(" received, ") == true ? true : nil }
            }
            feed.stop()
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.hasSuffix("}\n") && text.ranges(of: "\"class\":\"TPV\"").count >= shown)
            withExtendedLifetime(gpsd) {}
        }
    }

    @Test("A gpsd that is not there is told once, and no fix at the end is exit 1 with the reason")
    func nobody() async throws {
        let receiver = try Receiver()
        let run = try await ProgramRun.of(
            Products.backgrounder,
            ["track", "replay", receiver.source, "--for", "1500ms", "--format", "json"]
        )
        #expect(run.exitCode == 1 && run.text == "[]\n", "\(run)")
        let lines = run.errors.split(separator: "\n")
        #expect(lines.count == 2 && lines.first?.hasPrefix("Cannot connect to ") == true, "\(run)")
        #expect(lines.last?.contains("no fix arrived from \(receiver.source): ") == true, "\(run)")
    }

    @Test("A recording that cannot be written on ends with one line and a whole line, and the points go on")
    func full() async throws {
        let receiver = try Receiver()
        let gpsd = try receiver.startGPSD()
        let scratch = try ScratchDirectory()
        let path = scratch.file("gpsd.jsonl")
        // The limit of the shell stands for the disk that is full: write(2) refuses what is beyond it.
        let command = #"trap "" XFSZ; ulimit -f 16; exec "$0" track replay "$1" --record "$2" --for 10s --format csv"#
        async let run = ProgramRun.of(
            "/usr/bin/env",
            ["bash", "-c", command, Products.backgrounder, receiver.source, path]
        )
        _ = try await receiver.feed(Products.repository("tracks/city-walk.gpx"), "--rate", "20", "--count", "160")
            .waitForEnd()
        let ended = try await run
        #expect(ended.exitCode == 0, "\(ended)")
        #expect(ended.errors.ranges(of: "gpsd.jsonl ended: File too large; tracking continues").count == 1)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect((8000...16_384).contains(text.utf8.count) && text.hasSuffix("}\n"))
        let recorded = text.ranges(of: "\"class\":\"TPV\"").count
        #expect(ended.text.split(whereSeparator: \.isNewline).count > 2 * recorded)
        withExtendedLifetime(gpsd) {}
    }
}
