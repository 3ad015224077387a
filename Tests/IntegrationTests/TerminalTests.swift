import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// `attach` on a terminal, under a shell with job control.
@Suite(.sharing) struct TerminalTests {
    @Test func `Ctrl-Z restores the terminal, and fg draws the panels again`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        let terminal = try AttachedTerminal(service, after: "stty -a; echo shown; fg")
        try await terminal.waitForPanels()
        try await terminal.type("\u{1A}")
        try await terminal.lines.wait(for: "modes of the terminal") { lines, _ in
            guard let end = lines.firstIndex(where: { $0.hasPrefix("shown") }) else { return nil as Bool? }
            let text = lines[..<end].joined(separator: "\n")
            let left = try #require(text.range(of: "\u{1B}[?1049l"), "still on the alternate screen: \(text)")
            #expect(text[left.lowerBound...].contains("stopped "), "\(text)")
            let modes = text[left.upperBound...].split(whereSeparator: \.isWhitespace)
            #expect(modes.contains("icanon"), "\(text[left.upperBound...])")
            #expect(modes.contains("echo"), "\(text[left.upperBound...])")
            return true
        }
        try await terminal.lines.wait(for: "second picture") { lines, _ in
            let rest = lines.drop { !$0.hasPrefix("shown") }
            return rest.contains { $0.contains("\u{1B}[?1049h") } && Array(rest).isShowingPanels ? true : nil
        }
        try await terminal.type("q")
        try await terminal.waitForEnd()
    }

    @Test(arguments: ["q", "\u{3}"])
    func `q and Ctrl-C detach even while the request of a key gets no reply`(leave: String) async throws {
        let service = try Service(TestConfiguration())
        let pid = try await service.start()
        let terminal = try AttachedTerminal(service)
        try await terminal.waitForPanels()
        kill(pid, SIGSTOP)
        defer { kill(pid, SIGCONT) }
        try await terminal.type(" ")
        let (_, took) = try await time {
            try await terminal.type(leave)
            try await terminal.waitForEnd()
        }
        #expect(took < .seconds(5), "\(took)")
    }

    @Test func `the budget of a strict task counts down on the screen while nothing happens`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        let begun = try await service.command(["task", "begin", "wait", "--strict", "--", "sleep", "60"])
        #expect(begun.exitCode == 0, "\(begun)")
        let terminal = try AttachedTerminal(service)
        try await terminal.lines.wait(for: "three seconds") { lines, _ in
            let shown = Set(lines.flatMap { $0.matches(of: /[0-9]:[0-9][0-9] left/).map { String($0.output) } })
            return shown.count >= 3 ? true : nil
        }
        try await terminal.type("q")
        try await terminal.waitForEnd()
    }

    /// Runs `backgrounder` on a terminal after shell commands, in a zone 5 h 30 min ahead of UTC.
    private func onTerminal(
        _ service: Service,
        _ arguments: String,
        after commands: String = ":"
    ) async throws -> [String] {
        let run = try await ProgramRun.of(
            Programs.script,
            ["-qec", "unset NO_COLOR; \(commands); '\(Products.backgrounder)' \(arguments)", "/dev/null"],
            environment: service.environment.merging(["TZ": "<+0530>-5:30", "SHELL": Programs.shell]) { $1 }
        )
        try #require(run.exitCode == 0, "\(run)")
        return run.text.replacing("\r\n", with: "\n").split(separator: "\n").map(String.init)
    }

    @Test func `tables fit the terminal, else COLUMNS, and a pipe has no limit`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        let words = String(repeating: "word ", count: 40)
        try await service.run("task", "begin", "name", "--", "sh", "-c", "exec sleep 60 # \(words)")
        let wide = try await service.run("task", "list").text.split(separator: "\n")
        #expect(wide.last?.hasSuffix("word word ") == false)
        #expect(wide.last.map { $0.count > 250 } == true, "\(wide)")
        for (commands, columns) in [
            ("stty cols 100", 100), ("stty cols 100; export COLUMNS=70", 100), ("export COLUMNS=90", 90),
            ("unset COLUMNS", 80),
        ] {
            let lines = try await onTerminal(service, "task list", after: commands)
            #expect(lines.map(\.count).max() == columns, "\(commands): \(lines)")
            #expect(lines.last?.hasSuffix("…") == true, "\(commands): \(lines)")
        }
        let piped = try await ProgramRun.of(
            Products.backgrounder,
            ["task", "list"],
            environment: service.environment.merging(["COLUMNS": "40"]) { $1 }
        )
        #expect(piped.text.split(separator: "\n").last.map { $0.count > 250 } == true, "\(piped)")
    }

    @Test func `every table fits terminals of 40 to 200 columns`() async throws {
        let service = try Service(
            TestConfiguration(
                modes: "[location, audio, fetch, remote-notification]",
                source: "gpx:\(Samples.walk)?rate=max"
            )
        )
        try await service.start()
        try await service.waitForEndOfTrack()
        let words = String(repeating: "words ", count: 20)
        for arguments in [
            ["queue", "add", Samples.announcement],
            ["task", "begin", "task", "--", "sh", "-c", "exec sleep 60 # \(words)"],
            ["fetch", "add", "source", "--exec", "echo \(words); exit 3"],
            [
                "transfer", "get", "https://127.0.0.1:1/\(words.replacing(" ", with: "/"))",
                "\(service.home)/downloads/file",
            ],
            ["push", "add", "push", "--mqtt", "mqtt://127.0.0.1:1", "--topic", words.replacing(" ", with: "/")],
        ] { try await service.run(arguments) }
        let opens = try service.scratch.write(#"{"at": "2026-03-15T07:30:00Z"}"#, to: "opens.jsonl")
        let badFixes = Products.repository("tracks/bad-fixes.gpx")
        let commands = [
            "track", "track trips", "queue", "task list", "fetch list", "transfer list", "push list",
            "audio drivers", "track replay \(Samples.walk)", "track replay \(badFixes) --rejected",
            "track replay \(badFixes) --explain", "fetch plan --opens \(opens) --at 2026-03-17",
        ]
        for command in commands {
            let runs = [40, 60, 80, 120, 200].map {
                "stty cols \($0); echo 'width \($0)'; '\(Products.backgrounder)' \(command) 2>/dev/null"
            }
            let lines = try await onTerminal(service, "--version", after: runs.joined(separator: "; "))
            var width = 0
            var rows = 0
            for line in lines.dropLast() {
                if line.hasPrefix("width ") { (width, rows) = (Int(line.dropFirst(6)) ?? 0, 0) }
                rows += 1
                // The reasons of failures stand below the table, whole.
                if line.hasPrefix("1: ") { continue }
                #expect(line.terminalColumns <= width, "\(command): \(line)")
            }
            #expect(width == 200 && rows > 1, "\(command): \(lines)")
        }
    }

    @Test func `times are local with their age on a terminal, and UTC in a pipe and in JSON`() async throws {
        let service = try Service(
            TestConfiguration(source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=max")
        )
        try await service.start()
        try await service.waitForEndOfTrack()
        let status = try await onTerminal(service, "status")
        #expect(status[0].firstMatch(of: #/up \d+ s: \w+ since \d\d:\d\d:\d\d \((now|\d+ s ago)\), 0 attached/#) != nil)
        let fix = try #require(try await service.json("location", as: LocationStatus.self).lastFix)
        let local = ISO8601.string(fix.timestamp.addingTimeInterval(5.5 * 3600)).prefix(19).replacing("T", with: " ")
        #expect(status.contains { $0.contains(" at \(local) (") && $0.hasSuffix(" y ago)") }, "\(status)")
        #expect(try await onTerminal(service, "track").contains { $0.hasPrefix(local) }, "no \(local)")
        let utc = ISO8601.string(fix.timestamp)
        let piped = try await service.run("status").text
        #expect(piped.contains(" at \(utc)\n"))
        #expect(piped.firstMatch(of: #/up \d+ s: \w+ since \d{4}-\d\d-\d\dT[0-9:.]+Z, 0 attached/#) != nil, "\(piped)")
        #expect(try await service.run("track").text.contains("\n\(utc) "))
        #expect(try await service.run("track", "--last", "1", "--format", "json").text.contains("\"\(utc)\""))
        #expect(try await service.json("status", as: ServiceStatus.self).uptime.map { $0 > 0 && $0 < 600 } == true)
    }

    @Test func `a stale fix is marked in a pipe, and coloured on a terminal only`() async throws {
        let fake = try FakeGPSD()
        let service = try Service(TestConfiguration(source: "gpsd://127.0.0.1:\(fake.port)"))
        try await service.start()
        let client = try await fake.client()
        let time = ISO8601.string(Date(timeIntervalSinceNow: -14 * 60 - 20))
        client.send(
            line:
                #"{"class":"TPV","device":"/dev/ttyS0","mode":3,"time":"\#(time)","lat":48.1,"lon":11.5,"epx":2.0,"epy":2.0,"epv":3.0}"#
        )
        try await service.events().wait(forState: "silence") {
            $0.status.location?.lastFix != nil && $0.status.location?.quality == .silent
        }
        let piped = try await service.run("status").text
        #expect(piped.contains("          last fix 14 min ago, stale: 48.10000, 11.50000"), "\(piped)")
        #expect(!piped.contains("\u{1B}"))
        let shown = try await onTerminal(service, "location")
        #expect(shown.last?.hasPrefix("\u{1B}[33mlast fix 14 min ago, stale: ") == true, "\(shown)")
        #expect(shown.last?.hasSuffix("\u{1B}[0m") == true, "\(shown)")
    }

    @Test func `waiting for a fetch shows the elapsed time, on a terminal only`() async throws {
        let service = try Service(TestConfiguration(modes: "[fetch]"))
        try await service.start()
        let added = try await service.command(["fetch", "add", "slow", "--exec", "sleep 2.5; echo new"])
        #expect(added.exitCode == 0, "\(added)")
        let run = try await ProgramRun.of(
            Programs.script,
            ["-qefc", "'\(Products.backgrounder)' fetch run slow", "/dev/null"],
            environment: service.environment
        )
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.text.contains("\r\u{1B}[Kslow: fetching … 1 s\r\u{1B}[K"), "\(run)")
        #expect(run.text.contains("\r\u{1B}[Kslow: New data was fetched."), "the progress line is not replaced: \(run)")
        let piped = try await service.command(["fetch", "run", "slow"])
        #expect(piped.exitCode == 0, "\(piped)")
        #expect(piped.errors.isEmpty, "\(piped)")
        #expect(!piped.text.contains("fetching"), "\(piped)")
    }
}
