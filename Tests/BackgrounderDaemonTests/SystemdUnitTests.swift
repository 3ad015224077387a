import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import BackgrounderDaemon

/// The restrictions of the unit, compared with what the configuration needs.
@Suite struct SystemdUnitTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    /// The properties of the installed unit, as `systemctl show` prints them.
    private static let installed = """
        MainPID=812
        LoadState=loaded
        User=backgrounder
        SupplementaryGroups=
        IPAddressAllow=127.0.0.0/8 ::1/128
        IPAddressDeny=0.0.0.0/0 ::/0
        ReadWritePaths=
        BindPaths=
        BindReadOnlyPaths=
        PrivateUsers=yes
        ProtectHome=tmpfs
        ProtectSystem=strict
        StateDirectory=backgrounder
        """

    /// Returns the lines that the hints ask for.
    private func lines(
        _ yaml: String,
        unit changes: [String: String] = [:]
    ) throws -> [String] {
        let text = Self.installed.split(separator: "\n").map { line in
            let name = String(line.prefix { $0 != "=" })
            return changes[name].map { "\(name)=\($0)" } ?? String(line)
        }.joined(separator: "\n")
        let unit = try #require(SystemdUnit(text))
        let file = try scratch.write(yaml, to: "config.yaml")
        let configuration = try ConfigurationSource(
            file: file,
            standardFile: file,
            environment: [:],
            options: [:],
            directory: scratch.path
        ).load()
        let checks = unit.checks(configuration)
        #expect(!checks.isEmpty)
        return checks.filter { !$0.ok }.compactMap { check in
            check.hint.flatMap { $0.firstMatch(of: /add (.*) below/).map { String($0.1) } }
        }
    }

    @Test func `a configuration that the installed unit suits has no finding`() throws {
        let yaml = """
            modes: [audio, location]
            location: {usageDescription: Test, source: "gpsd://localhost"}
            audio: {musicDirectory: /srv/music, driver: "wav:\(scratch.path)/a.wav"}
            control: {group: backgrounder}
            """
        #expect(try lines(yaml, unit: ["ReadWritePaths": scratch.path]).isEmpty)
        #expect(try lines(yaml) == ["ReadWritePaths=\(scratch.path)/a.wav"])
    }

    @Test func `a gpsd on another machine needs its address, unless the unit allows others already`() throws {
        let yaml = "location: {usageDescription: Test, source: \"gpsd://192.0.2.7\"}"
        #expect(try lines(yaml) == ["IPAddressAllow=192.0.2.7"])
        #expect(try lines(yaml, unit: ["IPAddressAllow": "127.0.0.0/8 192.0.2.0/24"]).isEmpty)
        #expect(try lines(yaml, unit: ["IPAddressDeny": ""]).isEmpty)
        #expect(try lines("modes: [audio]\nlocation: {source: \"gpsd://192.0.2.7\"}").isEmpty)
    }

    @Test func `fetches, pushes, publishers, MPD clients and browsers on other machines need the network`() throws {
        #expect(try lines("modes: [audio, fetch, remote-notification]") == ["IPAddressAllow=any"])
        func publisher(_ address: String) -> String {
            "modes: [audio]\npublish: {brokers: {office: {\(address), machine: bus12}}}"
        }
        #expect(try lines(publisher("mqtt: mqtts://broker.example")) == ["IPAddressAllow=any"])
        #expect(try lines(publisher("http: https://server.example/pub")) == ["IPAddressAllow=any"])
        for here in ["mqtt: mqtt://localhost", "mqtt: mqtt://127.0.0.1:1884", "http: http://127.0.0.1:8083/pub"] {
            #expect(try lines(publisher(here)).isEmpty)
        }
        let mpd = "modes: [audio]\nmpd: {listen: [\"0.0.0.0:6600\"], defaultPermissions: [read]}"
        #expect(try lines(mpd) == ["IPAddressAllow= with their network"])
        let page = "modes: [audio]\nweb: {listen: [\"0.0.0.0:8443\"], hosts: [bus7], tls: {certificate: c, key: k}}"
        #expect(try lines(page) == ["IPAddressAllow= with their network"])
    }

    @Test func `music below a home folder must be bound`() throws {
        let yaml = "modes: [audio]\naudio: {musicDirectory: /home/ann/Music, queue: [/home/ann/Music, /homes/x]}"
        #expect(try lines(yaml) == ["BindReadOnlyPaths=/home/ann/Music"])
        #expect(try lines(yaml, unit: ["BindReadOnlyPaths": "/home/ann:/home/ann:rbind"]).isEmpty)
        #expect(try lines(yaml, unit: ["ProtectHome": "read-only"]).isEmpty)
    }

    @Test func `another group needs supplementary groups and no private users`() throws {
        let yaml = "modes: [audio]\ncontrol: {group: audio}"
        #expect(try lines(yaml) == ["PrivateUsers=no and SupplementaryGroups=audio"])
        #expect(try lines(yaml, unit: ["PrivateUsers": "no", "SupplementaryGroups": "video audio"]).isEmpty)
    }

    @Test func `a unit that is not loaded is ignored`() {
        #expect(SystemdUnit("LoadState=not-found\nMainPID=0\n") == nil)
        #expect(SystemdUnit("") == nil)
    }
}
