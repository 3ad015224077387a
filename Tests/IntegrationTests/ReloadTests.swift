import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// Reloading the configuration of a running service, and the precedence of file and commands.
@Suite(.sharing) struct ReloadTests {
    @Test func `reload applies what can change and reports what needs a restart`() async throws {
        var configuration = TestConfiguration()
        let service = try Service(configuration)
        let pid = try await service.start()
        let nothing: ReloadReply = try await service.json("reload")
        #expect(nothing == ReloadReply(applied: [], needsRestart: []))

        configuration.location = ["desiredAccuracy: kilometer", "distanceFilter: 25"]
        configuration.modes = "[location]"
        configuration.driver = "wav:\(service.file("out.wav"))"
        configuration.rest = ["store:", "  syncInterval: 2s"]
        try service.configure(configuration)
        let reply: ReloadReply = try await service.json("reload")
        #expect(reply.applied.sorted() == ["location.desiredAccuracy", "location.distanceFilter", "modes"])
        #expect(reply.needsRestart.sorted() == ["audio.driver", "store.syncInterval"])
        let status: ServiceStatus = try await service.json("status")
        #expect(status.pid == pid)
        #expect(status.modes == [.location])
        #expect(status.audio?.driver == "null")
        #expect(status.location?.desiredAccuracy == .kilometer)
        #expect(status.location?.distanceFilter == 25)

        configuration.source = "gpx:\(Samples.walk)?rate=max"
        try service.configure(configuration)
        let source: ReloadReply = try await service.json("reload")
        #expect(source.applied == ["location.source"])
        let events = try service.events()
        try await events.wait(forState: "new source") {
            $0.status.location?.source.contains("city-walk") == true && $0.status.location?.connection == .finished
        }
        let text = try await service.run("reload").text
        #expect(text.contains("nothing changed"), "\(text)")
    }

    @Test func `declared sources, pushes and hooks follow the file, and those of commands stay`() async throws {
        func configuration(_ lines: String...) -> TestConfiguration {
            TestConfiguration(modes: "[fetch]", rest: lines)
        }
        let first = configuration(
            "fetch: {sources: {news: {exec: echo 1, interval: 1h}, old: {exec: echo 2}}}",
            "push: {subscriptions: {home: {mqtt: \"mqtt://127.0.0.1:1\", topic: t}}}",
            "tasks: {hooks: {sync: {command: [\"true\"]}}}"
        )
        let service = try Service(first)
        try await service.start()
        try await service.run("fetch", "add", "own", "--exec", "echo 3")
        try await service.run("fetch", "run", "news")
        #expect(try await service.run("fetch", "show", "news").text.contains("declared  in the configuration file"))
        for command in [
            ["fetch", "remove", "news"], ["fetch", "set", "news", "--interval", "2h"], ["push", "remove", "home"],
            ["task", "unhook", "sync"],
        ] {
            let words = [
                "declared in \(service.file("config.yaml"))", "change the file, then run `backgrounder reload`",
            ]
            try await service.command(command).expectRefusal(1, words)
        }
        // A crash before the reload loses nothing.
        try await service.crash()
        try await service.start()
        try service.configure(
            configuration(
                "fetch: {sources: {news: {exec: echo 1, interval: 2h}, new: {exec: echo 4}}}",
                "tasks: {hooks: {sync: {command: [\"false\"]}, other: {command: [\"true\"]}}}"
            )
        )
        let reply: ReloadReply = try await service.json("reload")
        #expect(reply.applied.sorted() == ["fetch.sources", "push.subscriptions", "tasks.hooks"])
        #expect(reply.needsRestart.isEmpty)
        for isRestarted in [false, true] {
            if isRestarted {
                try await service.crash()
                try await service.start()
            }
            let sources: [FetchSource] = try await service.json("fetch", "list")
            #expect(sources.map(\.name) == ["news", "own", "new"])
            #expect(sources.map(\.declared) == [true, false, true])
            #expect(sources[0].interval == .custom(7200))
            #expect(sources[0].updated != nil)
            let pushes: [PushStatus] = try await service.json("push", "list")
            #expect(pushes.isEmpty)
            let hooks: [TaskHook] = try await service.json("task", "hooks")
            #expect(hooks.map(\.command) == [["true"], ["false"]])
            #expect(hooks.map(\.declared) == [true, true])
        }
        // A file that changed while the service did not run is adopted at the start.
        try await service.run("stop")
        try service.configure(configuration())
        try await service.start()
        let sources: [FetchSource] = try await service.json("fetch", "list")
        #expect(sources.map(\.name) == ["own"])
    }

    @Test func `reload applies the servers and folders of fetches and transfers`() async throws {
        let web = try TestWebServer()
        web.reply(to: "/file.bin", body: "content")
        let scratch = try ScratchDirectory()
        let secret = try scratch.write("user = name\npassword = word", to: "secret")
        chmod(secret, 0o600)
        let downloads = scratch.path + "/downloads"
        let get = ["transfer", "get", web.url("/file.bin"), downloads + "/file.bin", "--wait"]
        func configuration(_ transfers: String) -> TestConfiguration {
            TestConfiguration(
                modes: "[fetch]",
                rest: [
                    transfers,
                    "fetch: {sources: {news: {url: \"\(web.url("/file.bin"))\", kind: raw, credentials: \(secret)}}}",
                ]
            )
        }

        let service = try Service(TestConfiguration(modes: "[fetch]", rest: ["transfers: {allowHTTP: []}"]))
        try await service.start()
        try await service.command(get).expectRefusal(1, ["add 127.0.0.1 to transfers.allowHTTP"])
        try service.configure(configuration("transfers: {allowHTTP: [\"127.0.0.1:\(web.port)\"]}"))
        let hosts: ReloadReply = try await service.json("reload")
        #expect(hosts == ReloadReply(applied: ["transfers.allowHTTP", "fetch.sources"], needsRestart: []))
        try await service.command(get).expectRefusal(1, ["outside the transfer folders"])
        #expect(try await service.run("fetch", "run", "news").text.contains("New data was fetched"))
        try service.configure(
            configuration("transfers: {allowHTTP: [\"127.0.0.1:\(web.port)\"], roots: [\(downloads)]}")
        )
        let roots: ReloadReply = try await service.json("reload")
        #expect(roots == ReloadReply(applied: ["transfers.roots"], needsRestart: []))
        try await service.run(get)
        #expect(try String(contentsOfFile: downloads + "/file.bin", encoding: .utf8) == "content")
    }

    @Test func `a file that others may write is not reloaded, because it may declare commands`() async throws {
        let service = try Service(TestConfiguration(modes: "[fetch]"))
        try await service.start()
        let declaring = TestConfiguration(modes: "[fetch]", rest: ["fetch: {sources: {news: {exec: echo 1}}}"])
        try service.configure(declaring)
        chmod(service.file("config.yaml"), 0o666)
        try await service.command(["reload"]).expectRefusal(1, [service.file("config.yaml"), "the service continues"])
        let sources: [FetchSource] = try await service.json("fetch", "list")
        #expect(sources.isEmpty)
    }

    @Test func `adding what exists already changes nothing with --if-absent`() async throws {
        let service = try Service(
            TestConfiguration(modes: "[fetch]", rest: ["fetch: {sources: {news: {exec: echo 1, interval: 1h}}}"])
        )
        try await service.start()
        for command in [
            ["fetch", "add", "news", "--exec", "false"], ["fetch", "add", "own", "--exec", "echo 1"],
            ["push", "add", "home", "--mqtt", "mqtt://127.0.0.1:1", "--topic", "t"],
            ["task", "begin", "sync", "--on", "detach", "--", "true"],
        ] {
            var absent = command
            absent.insert("--if-absent", at: 3)
            try await service.run(absent)
            try await service.run(absent)
            let refused = try await service.command(command)
            #expect(refused.exitCode == 1, "\(refused)")
            #expect(refused.errors.contains("exists"), "\(refused)")
        }
        let sources: [FetchSource] = try await service.json("fetch", "list")
        #expect(sources.map(\.name) == ["news", "own"])
        #expect(sources[0].interval == .custom(3600))
        let pushes: [PushStatus] = try await service.json("push", "list")
        #expect(pushes.map(\.name) == ["home"])
        let hooks: [TaskHook] = try await service.json("task", "hooks")
        #expect(hooks.map(\.name) == ["sync"])
        try await service.command(["task", "begin", "a", "--if-absent", "--", "true"]).expectRefusal(64, ["--on"])
    }

    @Test func `a faulty file changes nothing, and the error names the place`() async throws {
        let service = try Service(TestConfiguration(location: ["distanceFilter: 10"]))
        let pid = try await service.start()
        for (yaml, words) in [
            ("modes: [audio]\nlocation: {distanceFilter: -3}\n", ["config.yaml:2", "location.distanceFilter", "-3"]),
            ("modes: [audio]\nmood: good\n", ["config.yaml:2", "unknown key mood"]),
            ("modes: [", ["config.yaml:"]),
        ] {
            try service.configure(yaml: yaml)
            let run = try await service.command(["reload"])
            run.expectRefusal(1, words)
            let status: ServiceStatus = try await service.json("status")
            #expect(status.pid == pid)
            #expect(status.modes == [.audio, .location])
            #expect(status.location?.distanceFilter == 10)
        }
    }

    @Test func `all faults of a file are in the output of reload and in the log, and nothing changes`() async throws {
        let service = try Service(TestConfiguration(location: ["distanceFilter: 10"]))
        let pid = try await service.start()
        let yaml = "modes: [audio]\nmood: good\nlocation: {distanceFilter: -3}\nlog: {level: loud}\n"
        let faults = [
            "config.yaml:2: unknown key mood", "config.yaml:3: location.distanceFilter: \"-3\" is not valid",
            "config.yaml:4: log.level: \"loud\" is not valid",
        ]
        func logged(_ fault: String) -> Int {
            service.logLines().count {
                $0.contains(" error Cannot load the configuration: ") && $0.contains("/\(fault)")
            }
        }
        let log = try LogFollower(service)
        try service.configure(yaml: yaml)
        let words = ["cannot load the configuration", "the service continues with the previous one"]
        try await service.command(["reload"]).expectRefusal(1, words + faults)
        try await log.wait(for: "config.yaml:4")
        #expect(faults.map(logged) == [1, 1, 1])

        try service.configure(yaml: yaml + "tone: low\n")
        kill(pid, SIGHUP)
        try await log.wait(for: "config.yaml:5: unknown key tone")
        #expect(faults.map(logged) == [2, 2, 2])
        let status: ServiceStatus = try await service.json("status")
        #expect(status.modes == [.audio, .location])
        #expect(status.location?.distanceFilter == 10)
    }

    @Test func `doctor checks the configuration file that the service was started with`() async throws {
        let service = try Service(TestConfiguration())
        let file = service.file("other.yaml")
        try FileManager.default.moveItem(atPath: service.file("config.yaml"), toPath: file)
        try await service.run("start", "--config", file)
        #expect(try await service.command(["doctor"]).text.contains("ok   configuration: \(file)\n"))
    }

    @Test func `a password that other users can read is refused by start, reload and doctor`() async throws {
        let service = try Service(TestConfiguration(rest: ["mpd: {password: sesame}"]))
        let file = service.file("config.yaml")
        let words = ["config.yaml:", "mpd.password", "other users can read this password", "chmod 600 \(file)"]
        for mode in [0o644, 0o640, 0o604] as [mode_t] {
            chmod(file, mode)
            let start = try await service.command(["start"])
            start.expectRefusal(1, words)
            #expect(!start.errors.contains("sesame"))
        }
        chmod(file, 0o600)
        try await service.start()
        #expect(try await service.run("doctor").text.contains("ok   configuration: \(file)"))
        chmod(file, 0o644)
        try await service.command(["reload"]).expectRefusal(1, words)
        let doctor = try await service.command(["doctor"])
        #expect(doctor.exitCode == 1, "\(doctor)")
        #expect(doctor.text.contains("FAIL configuration: \(file):"), "\(doctor)")
        #expect(doctor.text.contains("chmod 600 \(file)"), "\(doctor)")
        // Without a password, others may read the file.
        try service.configure(TestConfiguration())
        chmod(file, 0o644)
        try await service.run("reload")
    }

    @Test func `SIGHUP reloads the configuration, and a faulty file is logged in one line`() async throws {
        var configuration = TestConfiguration()
        let service = try Service(configuration)
        let pid = try await service.start()
        let events = try service.events()
        configuration.location = ["distanceFilter: 42"]
        try service.configure(configuration)
        kill(pid, SIGHUP)
        try await events.wait(forState: "reload") { $0.status.location?.distanceFilter == 42 }

        try service.configure(yaml: "location: {distanceFilter: much}\n")
        kill(pid, SIGHUP)
        configuration.location = ["distanceFilter: 43"]
        let log = try LogFollower(service)
        try await log.wait(for: "config.yaml:1")
        #expect(service.logLines().count { $0.contains("location.distanceFilter") && $0.contains(" error ") } == 1)
        let settings: LocationStatus = try await service.json("location")
        #expect(settings.distanceFilter == 42)
        try service.configure(configuration)
        kill(pid, SIGHUP)
        try await events.wait(forState: "second reload") { $0.status.location?.distanceFilter == 43 }
        #expect(service.pid == pid)
    }

    @Test func `the setting of a command overrides the file until the value in the file changes`() async throws {
        var configuration = TestConfiguration(location: ["distanceFilter: 10", "desiredAccuracy: kilometer"])
        let service = try Service(configuration)
        try await service.start()
        try await service.run("location", "filter", "50")
        try await service.run("location", "maximum", "20")

        // Another key changes: the command's values stay.
        configuration.location = ["distanceFilter: 10", "desiredAccuracy: best"]
        try service.configure(configuration)
        try await service.run("reload")
        try await expect(service, filter: 50, maximum: 20, .best)
        try await service.run("stop")
        try await service.start()
        try await expect(service, filter: 50, maximum: 20, .best)

        // The key itself changes: the file wins.
        configuration.location = ["distanceFilter: 12", "desiredAccuracy: best"]
        try service.configure(configuration)
        try await service.run("reload")
        try await expect(service, filter: 12, maximum: 20, .best)

        // It changes while nothing runs: the file wins at the start.
        try await service.run("location", "filter", "60")
        try await service.run("stop")
        configuration.location = ["distanceFilter: 13", "desiredAccuracy: best", "maximumAccuracy: none"]
        try service.configure(configuration)
        try await service.start()
        try await expect(service, filter: 13, maximum: nil, .best)
    }

    private func expect(
        _ service: Service,
        filter: Double,
        maximum: Double?,
        _ level: DesiredAccuracy,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let status: LocationStatus = try await service.json("location")
        #expect(status.distanceFilter == filter, sourceLocation: sourceLocation)
        #expect(status.maximumAccuracy == maximum, sourceLocation: sourceLocation)
        #expect(status.desiredAccuracy == level, sourceLocation: sourceLocation)
    }
}
