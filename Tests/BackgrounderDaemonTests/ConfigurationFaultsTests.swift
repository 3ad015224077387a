import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import BackgrounderDaemon

/// All faults of a configuration are reported at the same time, with the names that were probably meant.
@Suite struct ConfigurationFaultsTests {
    private let fixture: ConfigurationFixture

    init() throws {
        fixture = try ConfigurationFixture()
    }

    @Test func `all faults of a file are reported in the order of their lines`() throws {
        let faults = try fixture.faults(
            """
            modes: [audio]
            colour: red
            log: {level: loud}
            location:
              distancefilter: 5
              desiredAccuracy: fine
              source: gpx:nowhere.gpx
            audio:
              queue: [[a]]
              latency: {}
              driver: wav:nowhere/out.wav
            store: 5
            mpd: {listen: ["[::]:6600"]}
            """
        )
        let beginnings = [
            "config.yaml:2: unknown key colour", "config.yaml:3: log.level: \"loud\" is not valid; use trace, debug",
            "config.yaml:5: unknown key location.distancefilter",
            "config.yaml:6: location.desiredAccuracy: \"fine\" is not valid; use best",
            "config.yaml:7: location.source: cannot read nowhere.gpx",
            "config.yaml:9: audio.queue: use a list of files",
            "config.yaml:10: audio.latency: use a duration from 20ms to 2s",
            "config.yaml:11: audio.driver: cannot write nowhere/out.wav",
            "config.yaml:12: store: use a section with keys of its own",
            "config.yaml:13: mpd.listen: other machines can reach [::]:6600",
        ]
        try #require(faults.count == beginnings.count, "\(faults)")
        for (fault, beginning) in zip(faults, beginnings) {
            #expect(fault.hasPrefix(beginning), "\(fault)")
        }
    }

    @Test func `the faults of options come first, then those of variables, then those of the file`() throws {
        let faults = try fixture.faults(
            "modes: [video]",
            environment: ["BACKGROUNDER_LOG_LEVEL": "loud", "BACKGROUNDER_AUDIO_LATENCY": "1h"],
            options: [Keys.driver.name: ("--driver", "drum")]
        )
        #expect(
            faults.map { String($0.prefix { $0 != " " }) } == [
                "--driver:", "BACKGROUNDER_AUDIO_LATENCY:", "BACKGROUNDER_LOG_LEVEL:", "config.yaml:1:",
            ]
        )
    }

    @Test func `the fault of a list names its first invalid element`() throws {
        #expect(
            try fixture.faults("modes: [location, video, task]") == [
                "config.yaml:1: modes: \"video\" is not valid; use a list of audio, location, fetch, remote-notification"
            ]
        )
        #expect(
            try fixture.faults("mpd: {listen: [\"127.0.0.1:6600\", nowhere]}").first?.contains("\"nowhere\"") == true
        )
    }

    @Test func `a value that is refused has one fault`() throws {
        #expect(try fixture.faults("modes: [location]\nlocation: {usageDescription: ' '}").count == 1)
        #expect(try fixture.faults("modes: [audio]\nmpd: {listen: [\"[::]:6600\"], passwords: [guest]}").count == 1)
    }

    @Test(
        arguments: [
            ("mode: [audio]", "mode; did you mean modes?"),
            ("Modes: [audio]", "Modes; did you mean modes?"),
            ("location: {distancefilter: 5}", "location.distancefilter; did you mean distanceFilter?"),
            ("location: {distance_filter: 5}", "location.distance_filter; did you mean distanceFilter?"),
            ("location: {DISTANCE-FILTER: 5}", "location.DISTANCE-FILTER; did you mean distanceFilter?"),
            ("location: {desiredAcuracy: best}", "location.desiredAcuracy; did you mean desiredAccuracy?"),
            ("distanceFilter: 5", "distanceFilter; did you mean location.distanceFilter?"),
            ("log: {retention: 1y}", "log.retention; did you mean store.retention?"),
            ("colour: red", "colour; known keys: audio, control, fetch, fleet, location, log, metrics, modes, mpd, "),
            ("log: {colour: red}", "log.colour; known keys: log.level, log.progress"),
        ]
    )
    func `an unknown key is reported with the key that was probably meant, or with all keys`(
        yaml: String,
        words: String
    ) throws {
        let faults = try fixture.faults(yaml)
        #expect(faults[0].hasPrefix("config.yaml:1: unknown key \(words)"), "\(faults)")
    }

    @Test func `a very long unknown key is reported`() throws {
        let name = String(repeating: "x", count: 900)
        #expect(try fixture.faults("\(name): 1")[0].hasPrefix("config.yaml:1: unknown key \(name); known keys: "))
    }

    @Test func `each duplicate key is reported beside the other faults`() throws {
        let faults = try fixture.faults(
            """
            modes: [audio]
            log:
              level: loud
              progress: 1m
              "progress": 2m
            audio:
              level: 3
            modes: [audio]
            log:
              level: info
            modes: [audio]
            """
        )
        #expect(
            faults.map { $0.replacing(/;.*/, with: "") } == [
                "config.yaml:3: log.level: \"loud\" is not valid", "config.yaml:5: duplicate key progress",
                "config.yaml:7: unknown key audio.level",
                "config.yaml:8: duplicate key modes", "config.yaml:9: duplicate key log",
                "config.yaml:11: duplicate key modes",
            ],
            "\(faults)"
        )
    }

    @Test func `duplicate keys in one line are reported`() throws {
        #expect(
            try fixture.faults("log: {level: info, level: info}") == ["config.yaml:1: duplicate key level; remove one"]
        )
    }

    @Test func `more duplicate keys than the parser bears are reported in part`() throws {
        let faults = try fixture.faults(String(repeating: "modes: [audio]\n", count: 500))
        #expect(faults.first == "config.yaml:2: duplicate key modes; remove one")
        #expect(faults.count == 20)
    }

    @Test func `one line names the first ten faults and the number of the others`() throws {
        let error = try #require(throws: ConfigurationError.self) {
            try fixture.load((1...12).map { "wrong\($0): 1\n" }.joined())
        }
        #expect(error.description.contains("config.yaml:10: unknown key wrong10; "))
        #expect(!error.description.contains("wrong11"))
        #expect(error.description.hasSuffix("; and 2 more, which `backgrounderd --check` lists"))
        #expect(!error.description.contains("\n"))
    }

    @Test func `a variable without a meaning is a warning with the name that was probably meant`() throws {
        let configuration = try fixture.load(
            "modes: [audio]",
            environment: [
                "BACKGROUNDER_HOME": "/home", "BACKGROUNDER_TASK": "1", "BACKGROUNDER_FETCH": "news",
                "BACKGROUNDER_FETCH_RUN": "1", "BACKGROUNDER_LOG_LEVEL": "info", "HOME": "/", "BACKGROUND": "white",
                "BACKGROUNDER_LOCATION_DISTANCEFILTER": "5", "BACKGROUNDER_MPD_PASWORD": "sesame",
                "BACKGROUNDER_WALLPAPER": "blue",
            ]
        )
        #expect(
            configuration.warnings == [
                "BACKGROUNDER_LOCATION_DISTANCEFILTER: unknown variable; did you mean BACKGROUNDER_LOCATION_DISTANCE_FILTER?",
                "BACKGROUNDER_MPD_PASWORD: unknown variable; did you mean BACKGROUNDER_MPD_PASSWORD?",
                "BACKGROUNDER_WALLPAPER: unknown variable; it is ignored",
            ]
        )
    }
}
