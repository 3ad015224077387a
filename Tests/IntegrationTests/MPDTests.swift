import Foundation
import SystemSupport
import TestSupport
import Testing

/// The service's MPD protocol, compared with MPD itself.
@Suite(.sharing, .inRealTime) struct MPDTests {
    /// The replies in a long python3-mpd session that differ from MPD's.
    private static let differences = [
        AllowedDifference("tagtypes =>", "fewer tags are read from files than by MPD"),
        AllowedDifference("urlhandlers", "only http and https addresses are played"),
        AllowedDifference("lsinfo => ", "MPD lists the file mix.m3u beside the stored playlist mix"),
        AllowedDifference("listall =>", "as lsinfo"),
        AllowedDifference("find artist Ann sort -title", "MPD forgets the format of songs that it sorted"),
        AllowedDifference("find (artist =~", "regular expressions are not supported"),
        AllowedDifference("add /etc/passwd", "a file outside of the music directory is refused as such"),
        AllowedDifference("crossfade 5", "songs follow each other without a gap and never overlap"),
        AllowedDifference("mixrampdb -17", "as crossfade"),
        AllowedDifference(
            "status =>",
            theirs: "Failed to open audio output",
            "disabled is the reason, also while it plays"
        ),
        AllowedDifference("config", "clients must not see paths of the machine"),
        AllowedDifference("rangeid", "parts of songs are not supported"),
    ]

    @Test func `a long python3-mpd session gets the answers of MPD, except for listed differences`() async throws {
        let music = try await MPDMusic()
        let real = try await RealMPD(music: music)
        let service = try Service(music: music)
        try await service.start()
        let program = try music.scratch.write(mpdProgram, to: "session.py")
        let steps = try music.scratch.write(MPDSteps.python + "\n", to: "steps")
        @Sendable func transcript(_ socket: String) async throws -> [String] {
            let run = try await ProgramRun.of(Programs.python, [program, socket, steps], within: 120)
            try #require(run.exitCode == 0, "\(run)")
            return run.text.split(separator: "\n").map(String.init)
        }
        async let realLines = transcript(real.socket)
        let ours = try await transcript(service.paths.mpdSocket)
        let theirs = try await realLines
        #expect(theirs.count > 250)
        compare(ours, theirs, allowed: Self.differences)
    }

    /// The arguments of each mpc command in the session.
    private static let words = [
        "update --wait", "ls", "ls albums", "ls nowhere", "listall", "list artist", "list album artist Ann",
        "find artist Ann", "search title irs", "add albums", "add nowhere", "insert extra/plain.wav", "playlist",
        "playlist -f %position%:%file%:%time%:%artist%", "move 1 3", "move 9 1", "del 2", "del 9", "play 1", "pause",
        "current", "seek 10", "seek +5", "seek 50%", "status", "toggle", "pause-if-playing", "next", "pause", "prev",
        "pause", "queued", "cdprev", "pause", "play 99", "stop", "status", "volume 40", "volume +5", "volume",
        "repeat on", "random on", "single once", "consume on", "status", "repeat off", "random off", "single off",
        "consume off", "crossfade 0", "replaygain album", "replaygain", "replaygain off", "outputs", "enable 1",
        "save kept", "save kept", "lsplaylists", "playlist kept", "clear", "load kept", "playlist", "rm kept",
        "rm kept", "crop", "searchadd artist Bob", "findadd artist Ann", "playlist", "searchplay Third", "pause",
        "clear", "tagtypes enable Artist", "sendmessage bus hello", "channels", "clearerror", "version",
        "add file:///etc/passwd", "nonsense",
    ]

    @Test func `an mpc session gets the answers of MPD, except for listed differences`() async throws {
        let music = try await MPDMusic()
        let real = try await RealMPD(music: music)
        let service = try Service(music: music)
        try await service.start()
        func transcript(_ socket: String) async throws -> [String] {
            var lines: [String] = []
            for words in Self.words {
                let run = try await ProgramRun.of(
                    "/usr/bin/mpc",
                    ["--host", socket] + words.split(separator: " ").map(String.init)
                )
                // The time in the song differs between runs.
                let text = (run.text + run.errors).replacing(/\d+:\d\d\/|\(\d+%\)/, with: "")
                let shown = text.split(separator: "\n")
                // MPD lists them in the order of the folder.
                let parts = words == "lsplaylists" ? shown.sorted() : shown
                lines.append("\(words) => \(run.exitCode) | \(parts.joined(separator: " | "))")
            }
            return lines
        }
        let theirs = try await transcript(real.socket)
        let ours = try await transcript(service.paths.mpdSocket)
        compare(
            ours,
            theirs,
            allowed: [
                AllowedDifference("ls =>", "MPD lists the file mix.m3u beside the stored playlist mix"),
                AllowedDifference("lsplaylists =>", "as ls"),
                AllowedDifference("add file:", "a file outside of the music directory is refused as such"),
            ]
        )
    }

    @Test func `idle clients cause at most one wakeup in 10 s, hear of changes and do not delay stop`() async throws {
        let music = try await MPDMusic()
        let service = try Service(music: music)
        let pid = try await service.start()
        let mode = try FileManager.default.attributesOfItem(atPath: service.paths.mpdSocket)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        try await service.run("queue", "add", music.path + "/albums")
        let clients = try (0..<3).map { _ in try connectUnix(service.paths.mpdSocket) }.map { ($0, LineReader($0)) }
        for (descriptor, reader) in clients {
            try await reader.wait(for: "greeting") { lines, _ in lines.first?.hasPrefix("OK MPD") == true ? true : nil }
            try sendAll(descriptor, "idle player\n")
        }
        try await service.run("audio", "play")
        for (descriptor, reader) in clients {
            try await reader.wait(for: "change") { lines, _ in
                lines.suffix(2) == ["changed: player", "OK"] ? true : nil
            }
            try sendAll(descriptor, "pause 1\nidle mixer\n")
            try await reader.wait(for: "pause") { lines, _ in lines.count == 4 ? true : nil }
        }
        // Wait until the last write of the position is synced.
        await pause(seconds: 3)
        var readings: [Int] = []
        repeat {
            let before = ContextSwitches(of: pid)
            await pause(seconds: 10)
            readings.append(ContextSwitches(of: pid).since(before).values.reduce(0, +))
        } while readings.count < 3 && readings[readings.count - 1] > 1
        #expect(readings.contains { $0 <= 1 }, "wakeups in 10 s: \(readings)")
        try await service.run("audio", "volume", "30")
        for (_, reader) in clients {
            try await reader.wait(for: "change") { lines, _ in lines.contains("changed: mixer") ? true : nil }
        }
        let (_, took) = try await time { try await service.run("stop") }
        #expect(took < .seconds(2))
        #expect(!FileManager.default.fileExists(atPath: service.paths.mpdSocket))
    }

    @Test func `TCP is served with a password, and a port in use or a missing password is reported`() async throws {
        let port = try freePort(SOCK_STREAM)
        let music = try await MPDMusic()
        let service = try Service(music: music, more: ["mpd: {listen: [\"0.0.0.0:\(port)\"], password: sesame}"])
        chmod(service.file("config.yaml"), 0o600)
        try await service.start()
        let refused = try await ProgramRun.of("/usr/bin/mpc", ["--host", "127.0.0.1", "--port", "\(port)", "status"])
        #expect(refused.exitCode == 1, "\(refused)")
        #expect(refused.errors.contains("permission"), "\(refused)")
        let run = try await ProgramRun.of(
            "/usr/bin/mpc",
            ["--host", "sesame@127.0.0.1", "--port", "\(port)", "status"]
        )
        #expect(run.exitCode == 0, "\(run)")
        // A second service does not start on the same port.
        let second = try Service(music: music, more: ["mpd: {listen: [\"127.0.0.1:\(port)\"]}"])
        try await second.command(["start"]).expectRefusal(1, ["127.0.0.1:\(port)", "in use", "mpd.listen"])
        let open = try Service(music: music, more: ["mpd: {listen: [\"0.0.0.0:\(port)\"]}"])
        try await open.command(["start"]).expectRefusal(1, ["0.0.0.0:\(port)", "mpd.password"])
    }

    @Test func `each MPD password grants its configured permissions, and a wrong one is logged`() async throws {
        let port = try freePort(SOCK_STREAM)
        let mpd = "listen: [\"127.0.0.1:\(port)\"], passwords: [\"guest@read,add\", \"boss@read,control\"]"
        let service = try Service(music: try await MPDMusic(), more: ["mpd: {\(mpd), defaultPermissions: [read]}"])
        chmod(service.file("config.yaml"), 0o600)
        try await service.start()
        func mpc(_ user: String, _ words: String...) async throws -> ProgramRun {
            try await ProgramRun.of("/usr/bin/mpc", ["--host", "\(user)127.0.0.1", "--port", "\(port)"] + words)
        }
        for (user, words, code) in [
            ("", "status", 0), ("", "stop", 1), ("guest@", "stop", 1), ("guest@", "status", 0), ("boss@", "stop", 0),
        ] {
            let run = try await mpc(user, words)
            #expect(run.exitCode == code, "\(run)")
            if code == 1 { #expect(run.errors.contains("you don't have permission for \"stop\""), "\(run)") }
        }
        let wrong = try await mpc("bos@", "stop")
        #expect(wrong.errors.contains("incorrect password"), "\(wrong)")
        let lines = service.logLines().filter { $0.hasSuffix("MPD: wrong password from 127.0.0.1") }
        #expect(lines.count == 1)
        #expect(!service.logLines().contains { $0.contains("bos@") })
    }

    @Test func `mpc cannot play while audio is not in modes and no client is attached`() async throws {
        let service = try Service(TestConfiguration(modes: "[location]", queue: [Products.repository("media")]))
        try await service.start()
        for words in [["play"], ["next"], ["seek", "1"]] {
            let run = try await ProgramRun.of("/usr/bin/mpc", ["--host", service.paths.mpdSocket] + words)
            #expect(run.exitCode == 1, "\(run)")
            if words == ["play"] { #expect(run.errors.contains("audio is not in modes"), "\(run)") }
        }
    }
}
