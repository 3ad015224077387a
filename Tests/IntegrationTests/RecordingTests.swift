import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// Recordings of gpsd's output, made while tracking and replayed later.
@Suite(.sharing) struct RecordingTests {
    @Test(arguments: ["tunnel-gap", "bad-fixes"])
    func `replaying a recording of a real gpsd gives exactly the points that the service stored`(track: String)
        async throws
    {
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
        // The recording is complete even after a crash.
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

        // A service with the recording as its source gets the same points.
        let other = try Service(source: "\(source)?rate=max")
        try await other.start()
        let end = try await other.events().wait(forState: "end of the log") {
            $0.status.location?.connection == .finished
        }
        #expect(end.status.location?.rejected == status.rejected)
        #expect(try await other.json("track", "history") == history)
    }

    @Test func `track replay of a live gpsd prints and records points until --for ends it`() async throws {
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

    @Test func `Ctrl-C ends a live replay with a summary, and a killed one leaves whole lines`() async throws {
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
            #expect(text.hasSuffix("}\n"))
            #expect(text.ranges(of: "\"class\":\"TPV\"").count >= shown)
            withExtendedLifetime(gpsd) {}
        }
    }

    @Test func `an absent gpsd is reported once, and a replay without a fix exits with 1`() async throws {
        let receiver = try Receiver()
        let run = try await ProgramRun.of(
            Products.backgrounder,
            ["track", "replay", receiver.source, "--for", "1500ms", "--format", "json"]
        )
        #expect(run.exitCode == 1, "\(run)")
        #expect(run.text == "[]\n", "\(run)")
        let lines = run.errors.split(separator: "\n")
        #expect(lines.count == 2, "\(run)")
        #expect(lines.first?.hasPrefix("Cannot connect to ") == true, "\(run)")
        #expect(lines.last?.contains("no fix arrived from \(receiver.source): ") == true, "\(run)")
    }

    @Test func `a recording that cannot grow ends with one report and a whole line, and points continue`() async throws
    {
        let receiver = try Receiver()
        let gpsd = try receiver.startGPSD()
        let scratch = try ScratchDirectory()
        let path = scratch.file("gpsd.jsonl")
        // The shell's file size limit stands in for a full disk: write(2) fails beyond it.
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
        #expect((8000...16_384).contains(text.utf8.count))
        #expect(text.hasSuffix("}\n"))
        let recorded = text.ranges(of: "\"class\":\"TPV\"").count
        #expect(ended.text.split(whereSeparator: \.isNewline).count > 2 * recorded)
        withExtendedLifetime(gpsd) {}
    }
}
