import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// `log`, `doctor`, and the characters that neither may print.
@Suite(.sharing) struct LogTests {
    private struct Record: Decodable {
        var timestamp: Date
        var level: String
        var message: String
    }

    @Test func `log -n prints the newest lines as text and JSON, and -f follows new ones`() async throws {
        let service = try Service(
            TestConfiguration(source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=20")
        )
        let before = Date()
        try await service.start()
        let follower = try LogFollower(service)
        try await follower.wait(for: "Ready on")
        let events = try service.events()
        try await events.wait(for: "20 points") { $0.count("location") >= 20 ? true : nil }
        try await service.run("location", "stop")
        try await events.wait(forState: "stop") { $0.status.location?.updating == false }

        let all = service.logLines()
        let five = try await service.run("log", "-n", "5").text
        #expect(five == all.suffix(5).map { $0 + "\n" }.joined())
        #expect(try await service.run("log", "-n", "0").text.isEmpty)
        #expect(try await service.run("log").text.split(separator: "\n").count == min(20, all.count))
        let records: [Record] = try await service.json("log", "-n", "1000")
        #expect(records.count == all.count)
        for (record, line) in zip(records, all) {
            #expect(line == "\(ISO8601.string(record.timestamp)) \(record.level) \(record.message)")
            #expect(record.timestamp > before - 1)
            #expect(record.timestamp < Date() + 1)
        }
        try await service.run("stop")
        try await follower.wait(for: "Stopped")
        #expect(follower.lines == service.logLines())
        // The log can be read without the service.
        #expect(try await service.run("log", "-n", "1").text.contains("info Stopped\n"))
    }

    @Test func `log selects lines by time, level and text, and a follower survives a rotation`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        let follower = try LogFollower(service, "--grep", "stopped")
        try await service.run("stop")
        try await follower.wait(for: "Stopped")
        try FileManager.default.moveItem(atPath: service.paths.log, toPath: service.paths.log + ".1")
        let warning = "2026-11-20T12:00:00.000Z warning Nothing is stopped"
        try (warning + "\n2026-11-20T13:00:00.000Z info Other\n")
            .write(toFile: service.paths.log, atomically: true, encoding: .utf8)
        #expect(try await follower.wait(for: "Nothing") == warning)
        #expect(follower.lines.count == 2, "\(follower.lines)")

        let all = try await service.run("log", "-n", "1000").text
        #expect(all == service.logLines().map { $0 + "\n" }.joined())
        #expect(try await service.run("log", "--level", "WARNING", "-n", "1").text == warning + "\n")
        #expect(try await service.run("log", "--until", "2026-11-20T12:30:00Z").text == warning + "\n")
        let since = try await service.run("log", "--since", "2026-11-20T12:30:00Z", "--grep", "OTHER").text
        #expect(since == "2026-11-20T13:00:00.000Z info Other\n")
        let records: [Record] = try await service.json("log", "--grep", "nothing")
        #expect(records.map(\.level) == ["warning"])
        #expect(records.first?.timestamp == ISO8601.date("2026-11-20T12:00:00Z"))
    }

    @Test func `log prints local times on a terminal`() async throws {
        let service = try Service(TestConfiguration())
        try FileManager.default.createDirectory(
            atPath: String(service.paths.log.dropLast("/backgrounder.log".count)),
            withIntermediateDirectories: true
        )
        try "2026-11-20T23:30:00.000Z info Here\n".write(toFile: service.paths.log, atomically: true, encoding: .utf8)
        for (zone, time) in [
            ("<+0530>-5:30", "2026-11-21T05:00:00.000+05:30"), ("UTC0", "2026-11-20T23:30:00.000+00:00"),
        ] {
            let run = try await ProgramRun.of(
                Programs.script,
                ["-qec", "'\(Products.backgrounder)' log", "/dev/null"],
                environment: service.environment.merging(["TZ": zone]) { $1 }
            )
            #expect(run.text == "\(time) info Here\r\n", "\(run)")
        }
    }

    @Test func `doctor exits with 1 and a hint for each fault, and with 0 without faults`() async throws {
        struct Report: Decodable {
            struct Check: Decodable {
                var name: String
                var ok: Bool
                var message: String
                var hint: String?
            }
            var checks: [Check]
        }
        let service = try Service(TestConfiguration())
        let down = try await service.command(["doctor", "--format", "json"])
        #expect(down.exitCode == 1)
        down.expectOneLine(["service"])
        let checks = try JSON.decode(Report.self, from: down.output).checks
        #expect(checks.filter { !$0.ok }.map(\.name) == ["service"])
        #expect(checks.allSatisfy { $0.ok == ($0.hint == nil) && !$0.message.isEmpty })

        try await service.start()
        let well = try await service.command(["doctor", "--format", "json"])
        #expect(well.exitCode == 0, "\(well)")
        #expect(well.errors.isEmpty, "\(well)")
        #expect(try JSON.decode(Report.self, from: well.output).checks.allSatisfy(\.ok))
        #expect(try await service.run("doctor").text.contains("ok   service"))
        try await service.run("stop")

        try await service.run("start", "--source", "gpsd://localhost:\(try freePort(SOCK_STREAM))")
        let events = try service.events()
        try await events.wait(forState: "no gpsd") { $0.status.location?.quality == .disconnected }
        let faulty = try await service.command(["doctor", "--format", "json"])
        #expect(faulty.exitCode == 1)
        let location = try JSON.decode(Report.self, from: faulty.output).checks.first { $0.name == "location" }
        #expect(location?.ok == false)
        #expect(location?.hint?.contains("gpsd") == true)
    }

    @Test func `control characters in tags and file names reach neither the log nor a terminal`() async throws {
        let service = try Service(TestConfiguration(autoplay: true))
        let escape = "\u{1B}]0;owned\u{7}\u{1B}[31m\u{9B}2J\u{202E}"
        let tagged = service.file("tagged.mp3")
        let run = try await ProgramRun.of(
            Programs.lame,
            [
                "--quiet", "--id3v2-only", "--tt", "Title\(escape)\nnext line", "--ta", "Artist\(escape)",
                Samples.announcement, tagged,
            ]
        )
        try #require(run.exitCode == 0, "\(run)")
        let named = service.file("name\u{1B}[2J\nline.wav")
        try FileManager.default.copyItem(atPath: Samples.announcement, toPath: named)
        let broken = try service.scratch.write("ID3 and no sound", to: "broken\u{1B}[2J.mp3")
        try await service.start()
        let events = try service.events(observe: "100ms")
        var outputs = ""
        for path in [tagged, named] {
            try await service.run("audio", "play", path)
            try await events.wait(forState: "playing \(path.debugDescription)") {
                $0.status.audio?.currentItem?.path == path && $0.status.audio?.timeControlStatus == .playing
            }
            for command in [["status"], ["audio"], ["queue"], ["log"]] {
                outputs += try await service.command(command).text
            }
        }
        let item: AudioStatus = try await service.json("audio")
        #expect(item.currentItem?.path == named, "JSON does not have the path as it is")
        let ids = try await service.run("queue", "add", broken, Samples.announcement).text
        try await service.run("audio", "play", String(try #require(ids.split(separator: "\n").first)))
        try await events.wait(forState: "report") { $0.status.audio?.lastError?.path == broken }
        for command in [["status"], ["audio"], ["queue"], ["log"], ["doctor"]] {
            outputs += try await service.command(command).text
        }
        let missing = try await service.command(["queue", "add", service.file("no\u{1B}[2J\nfile")])
        missing.expectRefusal(4, ["no such file"])
        let raw = service.logLines().joined(separator: "\n") + "\n" + outputs
        let bad = raw.unicodeScalars.filter { scalar in
            scalar != "\n" && (scalar.properties.generalCategory == .control || scalar == "\u{202E}")
        }
        #expect(bad.isEmpty, "\(Set(bad))")
        for line in service.logLines() {
            #expect(line.firstMatch(of: #/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [a-z]+ /#) != nil, "\(line)")
        }
    }
}
