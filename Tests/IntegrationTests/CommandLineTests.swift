import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Rules of the command line that need a running service: relative values, existing files and `restart`.
@Suite(.sharing) struct CommandLineTests {
    @Test func `a volume with a sign changes the current one within 0 to 100`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        for (words, volume) in [("70", 70), ("+5", 75), ("-10", 65), ("-- -5", 60), ("+100", 100), ("-100", 0)] {
            let run = try await service.command(["audio", "volume"] + words.split(separator: " ").map(String.init))
            #expect(run.exitCode == 0, "\(run)")
            #expect(try await service.json("audio", as: AudioStatus.self).volume == volume, "\(words)")
        }
    }

    @Test func `an existing file is overwritten only with --force`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        for words in [["track", "export", "-o"], ["queue", "save"]] {
            let path = try service.scratch.write("mine", to: words[0])
            try await service.command(words + [path]).expectRefusal(1, [path, "already exists", "--force"])
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
            let forced = try await service.command(words + [path, "--force"])
            #expect(forced.exitCode == 0, "\(forced)")
            #expect(try String(contentsOfFile: path, encoding: .utf8) != "mine")
        }
    }

    @Test func `each change is confirmed in one style, and JSON has only the reply`() async throws {
        let service = try Service(
            TestConfiguration(modes: "[location, fetch, remote-notification]", source: "gpx:\(Samples.walk)?rate=max")
        )
        try await service.start()
        try await service.waitForEndOfTrack()
        for _ in 0..<3 { try await service.run("queue", "add", Samples.announcement) }
        let (backup, list, track) = (service.file("backup"), service.file("list.m3u"), service.file("track.gpx"))
        try await service.run("fetch", "add", "news", "--exec", "true")
        try await service.run("push", "add", "home", "--mqtt", "mqtt://127.0.0.1:1", "--topic", "t")
        try await service.run("task", "begin", "sync", "--on", "detach", "--", "true")
        for (command, reply) in [
            (["queue", "move", "1", "2"], "moved Backgrounder: Welcome Announcement to position 2"),
            (["queue", "save", list], "wrote \(list): 3 items"), (["queue", "remove", "1", "2"], "removed 2 items"),
            (["queue", "clear"], "removed all items"), (["fetch", "remove", "news"], "removed news"),
            (["push", "remove", "home"], "removed home"), (["task", "unhook", "sync"], "removed sync"),
            (["task", "clear"], "removed 0 tasks"), (["transfer", "clear"], "removed 0 transfers"),
            (["backup", backup], "wrote \(backup): "), (["track", "export", "-o", track], "wrote \(track): "),
            (["track", "delete", "--until", "now", "--yes"], "deleted "), (["restart"], "restarted, pid "),
            (["stop"], "stopped, pid "), (["restore", backup], "restored \(service.paths.database): "),
            (["start"], "started, pid "),
        ] {
            let text = try await service.run(command).text
            #expect(text.hasPrefix(reply), "\(command): \(text)")
            #expect(text.hasSuffix("\n") && !text.hasSuffix(".\n"), "\(command): \(text)")
            #expect(text.split(separator: "\n").allSatisfy { $0.first?.isLowercase == true }, "\(command): \(text)")
        }
        #expect(try await service.run("queue", "clear", "--format", "json").text.isEmpty)
    }

    @Test func `track replay accepts its fixed words in any case`() async throws {
        func replay(_ words: String) async throws -> ProgramRun {
            let options = zip(["--accuracy", "--filter", "--rate", "--format"], words.split(separator: " "))
            return try await ProgramRun.of(
                Products.backgrounder,
                ["track", "replay", Samples.walk] + options.flatMap { [$0, String($1)] }
            )
        }
        let lower = try await replay("kilometer none max json")
        #expect(lower.exitCode == 0, "\(lower)")
        let upper = try await replay("KILOMETER None MAX Json")
        #expect(upper.exitCode == 0, "\(upper)")
        #expect(upper.output == lower.output)
    }

    @Test func `the help of track replay names the command as it is typed`() async throws {
        let run = try await ProgramRun.of(Products.backgrounder, ["track", "replay", "--help"])
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.text.contains("USAGE: backgrounder track replay <file> "), "\(run)")
        #expect(!run.text.contains("backgrounderd"), "\(run)")
        let daemon = try await ProgramRun.of(Products.backgrounderd, ["replay", "--help"])
        #expect(daemon.text.contains("USAGE: backgrounderd replay <file> "), "\(daemon)")
    }
}
