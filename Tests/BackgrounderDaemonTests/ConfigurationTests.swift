import AudioPlayback
import BackgrounderAPI
import Foundation
import LocationUpdates
import MPDServer
import MediaFiles
import TestSupport
import Testing

@testable import BackgrounderDaemon

@Suite struct ConfigurationTests {
    private let fixture: ConfigurationFixture

    init() throws {
        fixture = try ConfigurationFixture()
    }

    @Test func `the values of an example file are read`() throws {
        try fixture.scratch.write("<gpx/>", to: "drive.gpx")
        let configuration = try fixture.load(
            """
            modes: [audio, location]            # also fetch, remote-notification
            location:
              source: gpx:drive.gpx?rate=10
              usageDescription: Finds the bus
              desiredAccuracy: best
              distanceFilter: none
              maximumAccuracy: none
              jitterGuard: true
            audio:
              driver: auto
              queue: [media/]
              autoplay: true
              latency: 300ms
              format: 48000:16:2
              observerInterval: 1s
              musicDirectory: media/
            mpd: {listen: []}
            transfers: {roots: [downloads/], allowHTTP: [], retryMaximum: 10m}
            store: {syncInterval: 1s, retention: 365d}
            log: {level: info}
            """
        )
        #expect(configuration.value(Keys.modes) == [.audio, .location])
        #expect(configuration.value(Keys.source) == .gpx(path: fixture.scratch.file("drive.gpx"), rate: .times(10)))
        #expect(configuration.value(Keys.distanceFilter) == 0)
        #expect(configuration.value(Keys.maximumAccuracy) == nil)
        #expect(configuration.value(Keys.queue) == [fixture.scratch.file("media")])
        #expect(configuration.value(Keys.latency) == .milliseconds(300))
        #expect(configuration.value(Keys.format) == AudioFormat("48000:16:2"))
        #expect(configuration.value(Keys.retryMaximum) == .seconds(600))
        #expect(configuration.value(Keys.retention) == .seconds(365 * 86_400))
    }

    @Test(
        arguments: [
            ("modes: [audio]\nfoo: 1", ":2: ", "foo"),
            ("modes: [audio]\nlocation:\n  desiredaccuracy: best", ":3: ", "location.desiredaccuracy"),
            ("modes: [audio]\nlocation:\n  desiredAccuracy: fine", ":3: ", "bestForNavigation"),
            ("modes: [audio]\nlocation:\n  distanceFilter: -5", ":3: ", "location.distanceFilter"),
            ("modes: [audio]\nlocation:\n  distanceFilter: .nan", ":3: ", "location.distanceFilter"),
            ("modes: [audio]\nlocation:\n  maximumAccuracy: 0", ":3: ", "location.maximumAccuracy"),
            ("modes: [audio]\nlocation:\n  jitterGuard: maybe", ":3: ", "true or false"),
            ("modes: [audio]\nlocation: {source: \"gpsd://bus:65536\"}", ":2: ", "(1 to 65535)"),
            ("modes: [audio]\nlocation: {source: \"gpx:a?rate=0.0001\"}", ":2: ", "rate"),
            ("modes: [audio]\nlocation: {source: gpx:nowhere.gpx}", ":2: ", "nowhere.gpx"),
            ("modes: [audio]\nlocation: {source: gpx:.}", ":2: ", "cannot read "),
            ("modes: [audio]\naudio: {driver: loud}", ":2: ", "wav:FILE"),
            ("modes: [audio]\naudio: {driver: wav:nowhere/out.wav}", ":2: ", "audio.driver: cannot write"),
            ("modes: [audio]\naudio: {driver: raw:.}", ":2: ", "it is a folder"),
            ("modes: [audio]\naudio: {driver: [pulse]}", ":2: ", "audio.driver"),
            ("modes: [audio]\naudio: {latency: 3s}", ":2: ", "20ms to 2s"),
            ("modes: [audio]\naudio: {format: 44100}", ":2: ", "RATE:16:CHANNELS"),
            ("modes: [audio]\naudio: {format: \"44100:24:2\"}", ":2: ", "RATE:16:CHANNELS"),
            ("modes: [audio]\naudio: {format: \"500:16:9\"}", ":2: ", "from 1000 to 384000"),
            ("modes: [audio]\naudio: {queue: media}", ":2: ", "a list"),
            ("modes: [audio]\naudio: 5", ":2: ", "audio"),
            ("modes: [audio]\nmpd: {listen: [6600]}", ":2: ", "HOST:PORT"),
            ("modes: [audio]\nmpd: {listen: [127.0.0.1:6600, \"[::]:6600\"]}", ":2: ", "mpd.password"),
            ("modes: [audio]\nlog: {progress: often}", ":2: ", "every, off"),
            ("modes: [audio]\nlog: {progress: 10ms}", ":2: ", "1s to 1d"),
            ("modes: [audio]\nmpd: {password: ''}", ":2: ", "mpd.password"),
            ("modes: [audio]\nmpd: {passwords: [guest]}", ":2: ", "guest@read,add"),
            ("modes: [audio]\nmpd: {passwords: [\"a@everything\"]}", ":2: ", "PASSWORD@PERMISSIONS"),
            ("modes: [audio]\nmpd: {defaultPermissions: [reed]}", ":2: ", "read, add, player, control, admin"),
            ("modes: [audio]\ntransfers: {allowHTTP: [\"http://nas\"]}", ":2: ", "HOST:PORT"),
            ("modes: [audio]\ntransfers: {allowHTTP: [\"nas:99999\"]}", ":2: ", "HOST:PORT"),
            ("modes: [audio]\ntransfers: {allowHTTP: [nas, \"*\"]}", ":2: ", "HOST:PORT"),
            ("modes: [audio]\ntransfers: {allowHTTP: [\"\"]}", ":2: ", "HOST:PORT"),
            ("modes: [audio]\nlog: {level: loud}", ":2: ", "log.level"),
            ("modes: [audio]\nstore: {syncInterval: soon}", ":2: ", "store.syncInterval"),
            ("modes: audio", ":1: ", "a list"),
            ("modes: [video]", ":1: ", "remote-notification"),
            ("modes: [location]", ":1: ", "usageDescription"),
            ("modes: [location]\nlocation: {usageDescription: ' '}", ":2: ", "usageDescription"),
            ("modes: [audio]\nlog: {level: info}\nmodes: [audio]", ":3: ", "duplicate key "),
            ("audio:\n  autoplay: true\n  autoplay: false", ":3: ", "duplicate key "),
            ("modes: [audio", ":2: ", "YAML"),
            ("[1, 2]", ":1: ", "mapping"),
        ]
    )
    func `an invalid file is refused with the line and the key or the allowed values`(
        yaml: String,
        line: String,
        word: String
    ) throws {
        let error = try #require(throws: ConfigurationError.self) { try fixture.load(yaml) }
        #expect(error.description.contains("config.yaml\(line)"), "\(error)")
        #expect(error.description.contains(word), "\(error)")
        #expect(!error.description.contains("\n"))
    }

    @Test func `a password of the wrong type is refused without showing it`() throws {
        let error = try #require(throws: ConfigurationError.self) {
            try fixture.load("modes: [audio]\nmpd: {password: [sesame]}")
        }
        #expect(error.description.contains("mpd.password"), "\(error)")
        #expect(!error.description.contains("sesame"), "\(error)")
    }

    @Test func `a file that is not text, too large, a folder or missing is refused`() throws {
        func refusal(_ path: String) throws -> String {
            try #require(throws: ConfigurationError.self) {
                try ConfigurationSource(
                    file: path,
                    standardFile: "/nowhere",
                    environment: [:],
                    options: [:],
                    directory: "/"
                ).load()
            }.description
        }
        #expect(
            try refusal(fixture.scratch.write([0x61, 0x0A, 0xFF, 0xFE], to: "binary")).hasSuffix(
                "binary:2: not valid UTF-8; save the file as UTF-8"
            )
        )
        #expect(
            try refusal(fixture.scratch.write(Array(repeating: 0x23, count: 1_048_577), to: "large")).contains(
                "larger than 1 MiB"
            )
        )
        #expect(try refusal(fixture.scratch.path).contains("not a regular file"))
        #expect(try refusal(fixture.scratch.file("none")).contains("No such file or directory; check the path"))
    }

    @Test func `without a file the defaults apply, and the location mode needs no usage description`() throws {
        let configuration = try ConfigurationSource(
            file: nil,
            standardFile: fixture.scratch.file("none.yaml"),
            environment: [:],
            options: [:],
            directory: "/"
        ).load()
        #expect(configuration.value(Keys.modes) == [.audio, .location])
        #expect(configuration.value(Keys.source) == .gpsd(GPSDAddress(host: "localhost")))
    }

    @Test func `log progress is every, off or a duration, and one minute by default`() throws {
        #expect(try fixture.load("modes: [audio]").value(Keys.logProgress) == .at(.seconds(60)))
        #expect(try fixture.load("modes: [audio]\nlog: {progress: every}").value(Keys.logProgress) == .every)
        #expect(try fixture.load("modes: [audio]\nlog: {progress: off}").value(Keys.logProgress) == .off)
        #expect(try fixture.load("modes: [audio]\nlog: {progress: 90s}").value(Keys.logProgress) == .at(.seconds(90)))
    }

    @Test(arguments: [("1y", 365), ("0.5y", 182.5), ("2w", 14), ("90d", 90), ("36h", 1.5), ("100y", 36_500)])
    func `the retention is a duration in hours, days, weeks or years`(text: String, days: Double) throws {
        let fromFile = try fixture.load("modes: [audio]\nstore: {retention: \(text)}")
        #expect(fromFile.value(Keys.retention) == .seconds(days * 86_400))
        let fromVariable = try fixture.load("modes: [audio]", environment: ["BACKGROUNDER_STORE_RETENTION": text])
        #expect(fromVariable.value(Keys.retention) == .seconds(days * 86_400))
    }

    @Test func `a retention of less than an hour or more than 100 years is refused`() throws {
        for text in ["59m", "101y", "1month"] {
            let error = try #require(throws: ConfigurationError.self) {
                try fixture.load("modes: [audio]\nstore: {retention: \(text)}")
            }
            #expect(error.description.hasSuffix("use a duration from 1h to 100y, such as 90d or 1y"), "\(error)")
        }
    }

    @Test func `a refused password is not shown`() throws {
        for yaml in [
            "mpd: {password: \"hunter2\\n\"}", "mpd: {passwords: [\"hunter2@reed\"]}", "mpd: {passwords: [hunter2]}",
        ] {
            let error = try #require(throws: ConfigurationError.self) { try fixture.load("modes: [audio]\n" + yaml) }
            #expect(!error.description.contains("hunter2"), "\(error)")
        }
        let variable = try #require(throws: ConfigurationError.self) {
            try fixture.load("modes: [audio]", environment: ["BACKGROUNDER_MPD_PASSWORDS": "hunter2"])
        }
        #expect(!variable.description.contains("hunter2"))
    }

    @Test func `passwords and default permissions are read as MPD reads them`() throws {
        let yaml = "modes: [audio]\nmpd: {password: old, passwords: [\"a@read,add\", \"b@control\"]}"
        let configuration = try fixture.load(yaml)
        #expect(configuration.mpdPasswords.map(\.text) == ["old", "a", "b"])
        #expect(configuration.mpdPasswords.map(\.permissions) == [.all, [.read, .add], [.control, .player]])
        #expect(configuration.value(Keys.mpdDefaultPermissions) == nil)
        let limited = try fixture.load(
            "modes: [audio]\nmpd: {listen: [0.0.0.0:6600], defaultPermissions: [read, player]}"
        )
        #expect(limited.value(Keys.mpdDefaultPermissions) == [.read, .player])
    }

    @Test func `options override the environment, and the environment overrides the file`() throws {
        let yaml =
            "modes: [audio]\naudio: {driver: pulse, latency: 100ms, queue: [a]}\nlocation: {desiredAccuracy: best}"
        let configuration = try fixture.load(
            yaml,
            environment: [
                "BACKGROUNDER_AUDIO_DRIVER": "alsa", "BACKGROUNDER_LOCATION_DESIRED_ACCURACY": "kilometer",
                "BACKGROUNDER_AUDIO_QUEUE": "b, /c",
            ],
            options: [Keys.driver.name: ("--driver", "wav:out.wav")]
        )
        #expect(configuration.value(Keys.driver) == .wav(fixture.scratch.file("out.wav")))
        #expect(configuration.value(Keys.desiredAccuracy) == .kilometer)
        #expect(configuration.value(Keys.latency) == .milliseconds(100))
        #expect(configuration.value(Keys.queue) == [fixture.scratch.file("b"), "/c"])
    }

    @Test func `an invalid variable or option is refused with its name`() throws {
        let variable = try #require(throws: ConfigurationError.self) {
            try fixture.load("modes: [audio]", environment: ["BACKGROUNDER_LOCATION_DISTANCE_FILTER": "far"])
        }
        #expect(variable.description.hasPrefix("BACKGROUNDER_LOCATION_DISTANCE_FILTER: location.distanceFilter"))
        let option = try #require(throws: ConfigurationError.self) {
            try fixture.load("modes: [audio]", options: [Keys.source.name: ("--source", "nmea:/dev/ttyS0")])
        }
        #expect(option.description.hasPrefix("--source: "))
    }

    @Test(arguments: ["null", "~", "\"null\""])
    func `YAML's null is the null driver but not a latency`(word: String) throws {
        #expect(try fixture.load("modes: [audio]\naudio: {driver: \(word)}").value(Keys.driver) == .null)
        #expect(throws: ConfigurationError.self) { try fixture.load("modes: [audio]\naudio: {latency: \(word)}") }
    }
}
