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
