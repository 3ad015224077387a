import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// A wrong command and its expected exit code and error.
struct WrongInput: CustomTestStringConvertible, Sendable {
    /// `HOME` stands for a scratch directory.
    var arguments: [String]
    var code: Int32
    /// Texts that the one line on stderr must contain.
    var words: [String]

    init(_ arguments: String, _ code: Int32, _ words: String...) {
        self.arguments = arguments.split(separator: " ").map(String.init)
        (self.code, self.words) = (code, words)
    }

    var testDescription: String { arguments.joined(separator: " ") }

    /// Runs the command with `service`'s environment and checks the result.
    func check(_ service: Service, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        // The path as the service prints it.
        let home = RuntimePaths.absolute(service.home)
        let run = try await service.command(arguments.map { $0.replacing("HOME", with: home) })
        run.expectRefusal(code, words.map { $0.replacing("HOME", with: home) }, sourceLocation: sourceLocation)
    }
}

/// Each kind of wrong input gets one clear line and the right exit code, and the service survives.
@Suite(.sharing) struct WrongInputTests {
    static let toService = [
        WrongInput("queue add HOME/missing.mp3", 4, "HOME/missing.mp3", "no such file"),
        WrongInput("queue add HOME/empty-folder", 4, "empty-folder", "nothing in this folder"),
        WrongInput("queue add HOME/fifo", 4, "fifo", "cannot be played"),
        WrongInput("queue add \(Samples.announcement) HOME/missing.mp3", 4, "missing.mp3"),
        WrongInput(
            "queue add \(Samples.announcement) HOME/notes.txt",
            4,
            "notes.txt",
            "not a supported audio format",
            "MP3"
        ),
        WrongInput("queue insert HOME/text.mp3", 4, "text.mp3", "not a supported audio format"),
        WrongInput("audio play HOME/empty.mp3", 4, "empty.mp3", "not a supported audio format"),
        WrongInput("queue insert HOME/missing.mp3", 4, "missing.mp3"),
        WrongInput("queue load HOME/missing.m3u", 4, "missing.m3u"),
        WrongInput("queue remove 99", 4, "99"),
        WrongInput("queue remove x", 64, "x", "use a whole number"),
        WrongInput("queue move 99 0", 4, "99"),
        WrongInput("audio play HOME/missing.mp3", 4, "missing.mp3"),
        WrongInput("audio play 99", 4, "99"),
        WrongInput("audio interrupt HOME/missing.mp3", 4, "missing.mp3"),
        WrongInput("audio interrupt HOME", 4, "a folder cannot be an announcement"),
        WrongInput("audio interrupt x.wav --duck 20", 64, "20", "0% to 100%"),
        WrongInput("audio interrupt x.wav --duck 101%", 64, "101%", "0% to 100%"),
        WrongInput("audio interrupt x.wav --priority high", 64, "high", "whole number; use a number such as 10"),
        WrongInput("audio interrupt", 64, "file"),
        WrongInput("audio volume 101", 64, "101"),
        WrongInput("audio volume +101", 64, "+101", "0 to 100", "+5"),
        WrongInput("audio volume loud", 64, "loud"),
        WrongInput("audio seek 1:99", 64, "1:99"),
        WrongInput("audio seek soon", 64, "soon"),
        WrongInput("audio seek +5", 1, "queue is empty"),
        WrongInput("audio play", 1, "queue is empty", "queue add"),
        WrongInput("audio repeat perhaps", 64, "perhaps"),
        WrongInput("location accuracy superb", 64, "superb", "nearestTenMeters"),
        WrongInput("location filter -5", 64, "-5"),
        WrongInput("location filter far", 64, "far"),
        WrongInput("location filter nan", 64, "nan"),
        WrongInput("location maximum 0", 64, "0"),
        WrongInput("location maximum -1", 64, "-1"),
        WrongInput("track --last 0", 64, "--last 0"),
        WrongInput("track --last 101", 64, "101"),
        WrongInput("track --follow --format gpx", 64, "gpx"),
        WrongInput("track history --since soon", 64, "soon", "yesterday", "10m", "backgrounder track history --help"),
        WrongInput("track history --since 1h --until 2h", 64, "--since", "later than --until"),
        WrongInput("track trips --since today --until yesterday", 64, "--since", "later than --until"),
        WrongInput("track map --since 1h --until 2h", 64, "--since", "later than --until"),
        WrongInput("track export --since 1h --until 2h", 64, "--since", "later than --until"),
        WrongInput("track --format pdf", 64, "pdf"),
        WrongInput("status --format xml", 64, "xml"),
        WrongInput("status --format json --more", 64, "--more"),
        WrongInput("log -n -1", 64, "-n"),
        WrongInput("task end x", 64, "x", "use a whole number", "backgrounder task end --help"),
        WrongInput("log -n x", 64, "x", "lines from 0, such as"),
        WrongInput("log --level loud", 64, "loud", "warning"),
        WrongInput("log --since soon", 64, "soon", "yesterday"),
        WrongInput("log --since 1h --until 2h", 64, "--since", "later than --until"),
        WrongInput("log -f --until now", 64, "--follow", "--until"),
        WrongInput("log --grep=", 64, "--grep", "value"),
        WrongInput("dance", 64, "unknown command dance", "backgrounder --help"),
        WrongInput("audio dance", 64, "unknown command dance", "backgrounder audio --help"),
        WrongInput("statsu", 64, "unknown command statsu; did you mean status? see `backgrounder status --help`"),
        WrongInput("track tirps", 64, "did you mean trips? see `backgrounder track trips --help`"),
        WrongInput("track replay x.gpx --explian", 64, "; did you mean '--explain'? see `backgrounder track replay"),
        WrongInput(
            "track replay HOME/missing.gpx",
            4,
            "backgrounder: ",
            "missing.gpx: No such file",
            "name a GPX file"
        ),
        WrongInput("track replay HOME", 1, "HOME"),
        WrongInput("track replay HOME/empty.gpx", 1, "empty.gpx"),
        WrongInput("track replay HOME/text.gpx", 1, "text.gpx:1:"),
        WrongInput("track replay HOME/no-points.gpx", 1, "no-points.gpx"),
        WrongInput("track replay HOME/text.gpx --accuracy superb", 64, "superb"),
        WrongInput("track replay HOME/text.gpx --filter=-5", 64, "-5", "0 or more metres, or none"),
        WrongInput(
            "track replay HOME/text.gpx --rate 0",
            64,
            "0",
            "or max",
            "backgrounder: ",
            "backgrounder track replay --help"
        ),
        WrongInput("track replay", 64),
        WrongInput("start --driver wav:HOME/other.wav", 1, "already running", "--driver", "backgrounder stop"),
    ]

    @Test func `a running service refuses each wrong command in one line and stays as it was`() async throws {
        let service = try Service(TestConfiguration())
        try Self.makeFiles(service.scratch)
        let pid = try await service.start()
        let before: AudioStatus = try await service.json("audio")
        for input in Self.toService { try await input.check(service) }
        let status: ServiceStatus = try await service.json("status")
        #expect(status.pid == pid)
        #expect(status.audio == before)
        let settings = try #require(status.location)
        #expect(settings.distanceFilter == 0)
        #expect(settings.maximumAccuracy == nil)
        #expect(settings.desiredAccuracy == .best)
        let queue: [PlayerItem] = try await service.json("queue")
        #expect(queue.isEmpty)
    }

    @Test func `removing several items removes all of them or none`() async throws {
        let service = try Service(TestConfiguration(queue: [Products.repository("media")]))
        try await service.start()
        let before: [PlayerItem] = try await service.json("queue")
        try #require(before.count > 2)
        let (first, second) = ("\(before[0].id)", "\(before[1].id)")
        try await service.command(["queue", "remove", first, "99"]).expectRefusal(4, ["99"])
        #expect(try await service.json("queue", as: [PlayerItem].self) == before)
        try await service.run("queue", "remove", first, second)
        #expect(try await service.json("queue", as: [PlayerItem].self).map(\.id) == before.dropFirst(2).map(\.id))
    }

    @Test func `a seek past the end is refused, and the current item stays`() async throws {
        let service = try Service(TestConfiguration(queue: Array(Samples.tunes.prefix(2))))
        try await service.start()
        let events = try service.events()
        try await events.wait(forState: "a length") { $0.queue.first?.duration != nil }
        try await service.run("audio", "play")
        try await service.command(["audio", "seek", "59:00"]).expectRefusal(1, ["59:00", "0:12", "audio next"])
        try await service.command(["audio", "seek", "+3600"]).expectRefusal(1, ["long"])
        #expect(try await service.json("audio", as: AudioStatus.self).currentItem?.id == 1)
    }

    @Test func `doctor reports that the folder of the audio output file is missing`() async throws {
        let service = try Service(TestConfiguration())
        let folder = service.file("sound")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try service.configure(TestConfiguration(driver: "wav:\(folder)/out.wav"))
        try await service.start()
        let before = try await service.command(["doctor"])
        #expect(!before.text.contains("no folder"), "\(before)")
        try FileManager.default.removeItem(atPath: folder)
        let after = try await service.command(["doctor"])
        #expect(after.exitCode == 1, "\(after)")
        #expect(after.text.contains(", no folder \(folder)"), "\(after)")
    }

    static let toStart = [
        WrongInput(
            "start --source gpsd://localhost:99999",
            64,
            "--source",
            "gpsd://localhost:99999",
            "use gpsd://HOST"
        ),
        WrongInput("start --source ftp://localhost", 64, "ftp://localhost", "use gpsd://HOST"),
        WrongInput("start --source gpx:HOME/missing.gpx", 1, "cannot read HOME/missing.gpx", "check the path"),
        WrongInput("start --source gpx:HOME", 1, "cannot read HOME;", "check the path"),
        WrongInput("start --driver dance", 64, "dance", "use auto, "),
        WrongInput("start --driver wav:HOME/nowhere/out.wav", 1, "audio.driver", "no folder HOME/nowhere", "create it"),
        WrongInput("start --config HOME/missing.yaml", 1, "missing.yaml"),
        WrongInput("start --config HOME", 1, "not a regular file"),
        WrongInput("start --home /proc/nowhere", 1, "/proc/nowhere", "--home"),
        WrongInput("start --home HOME/config.yaml", 1, "HOME/config.yaml", "--home"),
        WrongInput("start --home HOME/\(String(repeating: "x", count: 100))", 1, "socket path", "107"),
        WrongInput("status", 3, "not running", "backgrounder start"),
        WrongInput("stop", 3, "not running"),
        WrongInput("attach", 3, "not running"),
        WrongInput("queue add HOME/config.yaml", 3, "not running"),
        WrongInput("track history", 3, "not running"),
        WrongInput("reload", 3, "not running"),
        WrongInput("log", 1, "no log"),
    ]

    @Test(arguments: toStart)
    func `wrong starts, and commands without a service, are refused in one line`(input: WrongInput) async throws {
        let service = try Service(TestConfiguration())
        try await input.check(service)
        #expect(service.pid == nil)
    }

    @Test(arguments: [
        (["start", "--home", ""], "name a folder"), (["--home", "", "start"], "name a folder"),
        (["--home=", "status"], "name a folder"), (["status", "--home="], "missing value"),
        (["audio", "play", "--home", ""], "name a folder"), (["attach", "--home", ""], "name a folder"),
        (["fetch", "plan", "--home", ""], "name a folder"),
    ]
    )
    func `every command refuses an empty --home`(arguments: [String], words: String) async throws {
        let service = try Service(TestConfiguration())
        try await service.command(arguments).expectRefusal(64, ["--home", words])
        let daemon = try await ProgramRun.of(Products.backgrounderd, ["--home", ""], environment: service.environment)
        daemon.expectRefusal(64, ["backgrounderd: ", "--home", "name a folder"])
        #expect(service.pid == nil)
    }

    @Test func `the daemon refuses options of which it would ignore one`() async throws {
        let service = try Service(TestConfiguration())
        for check in ["--check", "--check-configuration"] {
            let arguments = [check, "--launch-for-fetch", "news"]
            let run = try await ProgramRun.of(Products.backgrounderd, arguments, environment: service.environment)
            run.expectRefusal(64, ["backgrounderd: ", "\(check) ", "--launch-for-fetch", "use one of them"])
        }
    }

    @Test(arguments: [
        ("mode: [audio]", "config.yaml:1", "unknown key mode", "modes"),
        ("location:\n  sauce: gpsd://localhost", "config.yaml:2", "unknown key location.sauce", "source"),
        ("log:\n  level: info\nlog:\n  level: debug", "config.yaml:", "log", ""),
        ("location:\n  source: gpsd://localhost:65536", "config.yaml:2", "location.source", "use gpsd://HOST"),
        ("location:\n  source: gpsd://localhost:0", "config.yaml:2", "location.source", "use gpsd://HOST"),
        ("location:\n  desiredAccuracy: superb", "config.yaml:2", "superb", "bestForNavigation"),
        ("location:\n  distanceFilter: -1", "config.yaml:2", "location.distanceFilter", "use 0 to 20037508 metres"),
        ("audio:\n  latency: 1h", "config.yaml:2", "audio.latency", "20ms to 2s"),
        ("audio: {queue: 3}", "config.yaml:1", "audio.queue", "a list of"),
        ("modes: [", "config.yaml:", "", ""),
        ("modes: [location]", "config.yaml:1", "usageDescription", ""),
        (
            "location: {jitterGuard: true}", "config.yaml:1", "usageDescription",
            "to turn the mode off, set modes: [audio]"
        ),
    ]
    )
    func `a faulty configuration is refused with its file, line, key and the allowed values`(
        yaml: String,
        place: String,
        problem: String,
        hint: String
    ) async throws {
        let service = try Service(TestConfiguration())
        try service.configure(yaml: yaml + "\n")
        let run = try await service.command(["start"])
        run.expectRefusal(1, [place, problem, hint].filter { !$0.isEmpty })
        #expect(service.pid == nil)
    }

    @Test func `start reports all faults of a configuration in one line, and the service in one line each`()
        async throws
    {
        let service = try Service(TestConfiguration())
        try service.configure(yaml: "mode: [audio]\nlog: {level: loud}\n")
        let words = ["config.yaml:1: unknown key mode; did you mean modes?", "config.yaml:2: log.level: \"loud\""]
        try await service.command(["start"]).expectRefusal(1, words)
        let daemon = try await ProgramRun.of(Products.backgrounderd, [], environment: service.environment)
        #expect(daemon.exitCode == 1)
        let lines = daemon.errors.split(separator: "\n")
        try #require(lines.count == 2, "\(lines)")
        for (line, words) in zip(lines, words) {
            #expect(line.hasPrefix("backgrounderd: "))
            #expect(line.contains(words), "\(line)")
        }
        #expect(service.pid == nil)
    }

    @Test func `a service logs a variable without a meaning as a warning`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start(adding: ["BACKGROUNDER_LOG_LEVLE": "debug"])
        let words = " warning BACKGROUNDER_LOG_LEVLE: unknown variable; did you mean BACKGROUNDER_LOG_LEVEL?"
        try await FileWatch(service.paths.log).wait(for: words)
        #expect(service.logLines().count { $0.hasSuffix(words) } == 1)
    }

    @Test func `unplayable content is reported with its reason, and the queue continues`() async throws {
        let service = try Service(TestConfiguration())
        let scratch = service.scratch
        try Self.makeFiles(scratch)
        let announcement = try Data(contentsOf: URL(fileURLWithPath: Samples.announcement))
        try scratch.write(announcement.prefix(announcement.count / 8), to: "truncated.wav")
        // They begin like audio files, so they can be queued.
        for name in ["tag.mp3", "header.mp3"] { try scratch.write("ID3 \(name)", to: name) }
        let bad = ["tag.mp3", "header.mp3", "truncated.wav"]
        try service.configure(TestConfiguration(driver: "wav:\(service.file("out.wav"))"))
        try await service.start()
        let events = try service.events()
        for name in bad {
            try await service.run("audio", "play", service.file(name))
            let state = try await events.wait(forState: "report of \(name)") { state in
                state.status.audio?.lastError?.path == service.file(name)
                    && state.status.audio?.timeControlStatus == .stopped
                    && state.queue.last?.path == service.file(name)
            }
            #expect(state.status.audio?.lastError?.reason.isEmpty == false)
            let lines = service.logLines().filter { $0.contains(" warning \(service.file(name)): ") }
            #expect(lines.count == 1, "\(name): \(lines)")
        }
        // The truncated file was played up to its end.
        let played = try Samples.wav(service.file("out.wav")).samples
        let whole = try await Samples.reference(Samples.announcement)
        #expect(!played.isEmpty)
        #expect(whole.starts(with: played))
        try await service.run("queue", "clear")
        try await service.run("queue", "add", service.file("header.mp3"), service.file("tag.mp3"), Samples.announcement)
        try await service.run("audio", "play")
        try await events.wait(for: "the good one and the end") { received in
            let items = received.payloads("currentItem")
            return items.contains { $0.contains("welcome-announcement") } && items.last == "{}" ? true : nil
        }
        let status: AudioStatus = try await service.json("audio")
        let error = try #require(status.lastError)
        #expect(error.path == service.file("tag.mp3"))
        // The queue marks the skipped items.
        let items: [PlayerItem] = try await service.json("queue")
        try #require(items.map { $0.error == nil } == [false, false, true])
        #expect(items[1].error == error.reason)
        let shown = try await service.run("queue").text.split(separator: "\n").map(String.init)
        #expect(shown.filter { $0.hasPrefix("✗") && $0.contains(" header.mp3 ") }.count == 1, "\(shown)")
    }

    @Test func `replaying a damaged GPX file gives its good points, names the line and exits with 1`() async throws {
        let scratch = try ScratchDirectory()
        let good = try String(contentsOfFile: Products.repository("tracks/city-walk.gpx"), encoding: .utf8)
        let lines = good.split(separator: "\n", omittingEmptySubsequences: false)
        let path = try scratch.write(lines.prefix(200).joined(separator: "\n") + "\n<trkpt lat=<", to: "damaged.gpx")
        let run = try await ProgramRun.of(Products.backgrounder, ["track", "replay", path, "--format", "json"])
        #expect(run.exitCode == 1)
        let points = try JSON.decode([Location].self, from: run.output)
        #expect(points.count > 20)
        let fault = run.errors.split(separator: "\n").filter { $0.contains("damaged.gpx:201: ") }
        #expect(fault.count == 1, "\(run.errors)")
    }

    static func makeFiles(_ scratch: ScratchDirectory) throws {
        for name in ["empty.mp3", "empty.gpx"] { try scratch.write("", to: name) }
        for name in ["text.mp3", "text.gpx", "notes.txt"] {
            try scratch.write("This is a text, and no more.\n", to: name)
        }
        let gpx = "<gpx version=\"1.1\" creator=\"x\" xmlns=\"http://www.topografix.com/GPX/1/1\"></gpx>"
        try scratch.write(gpx, to: "no-points.gpx")
        guard mkfifo(scratch.file("fifo"), 0o600) == 0 else { throw SystemCallFailure("mkfifo") }
        try FileManager.default.createDirectory(
            atPath: scratch.file("empty-folder"),
            withIntermediateDirectories: false
        )
    }
}
