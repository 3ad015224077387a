import BackgrounderAPI
import Foundation
import Logging
import SystemSupport
import TestSupport
import Testing

@testable import MPDServer

/// The permissions of passwords, and the cost of guessing passwords.
@Suite(.serialized) struct PasswordTests {
    private static let everybody: Set = [
        "binarylimit", "close", "commands", "notcommands", "password", "ping", "tagtypes",
    ]

    private func access(_ passwords: String..., defaultPermissions: MPDPermissions? = nil) throws -> MPDAccess {
        MPDAccess(
            passwords: try passwords.map { try #require(MPDPassword(withPermissions: $0)) },
            defaultPermissions: defaultPermissions
        )
    }

    private func names(_ answer: [String]) -> Set<String> {
        Set(answer.filter { $0.hasPrefix("command: ") }.map { String($0.dropFirst("command: ".count)) })
    }

    @Test func `a password's permissions follow its last @`() throws {
        #expect(try #require(MPDPassword(withPermissions: "a@b@read,add")).text == "a@b")
        #expect(MPDPassword(withPermissions: "a@read,add")?.permissions == [.read, .add])
        #expect(MPDPassword(withPermissions: "a@control")?.permissions.contains(.player) == true)
        #expect(MPDPassword("a@read")?.permissions == .all)
        for text in ["a", "@read", "a@", "a@all", "a@read,", "a@read, add", "a\nb@read"] {
            #expect(MPDPassword(withPermissions: text) == nil, "\(text)")
        }
    }

    // From the answers of MPD 0.23.12 to `commands`, limited to the commands of this server.
    @Test(arguments: [
        ("read", "status", "play"), ("add", "add", "status"), ("player", "play", "save"), ("control", "save", "add"),
        ("admin", "enableoutput", "status"),
    ])
    func `each permission allows its commands and no others`(name: String, yes: String, no: String) async throws {
        let fixture = try await MPDFixture(access: access("pw@\(name)"), onTCP: true)
        let client = try await fixture.connectTCP()
        #expect(names(try await client.ask("commands")) == Self.everybody)
        #expect(try await client.ask("password pw") == ["OK"])
        let allowed = names(try await client.ask("commands"))
        #expect(allowed.isSuperset(of: Self.everybody.union([yes])))
        #expect(!allowed.contains(no))
        let refused = names(try await client.ask("notcommands"))
        #expect(refused.contains(no))
        #expect(refused.isDisjoint(with: allowed))
        #expect(try await client.ask(no) == [#"ACK [4@0] {\#(no)} you don't have permission for "\#(no)""#])
    }

    @Test func `a later password replaces the permissions of an earlier one`() async throws {
        let fixture = try await MPDFixture(access: access("a@read", "b@control"), onTCP: true)
        let client = try await fixture.connectTCP()
        #expect(try await client.ask("password a", "status").last == "OK")
        #expect(try await client.ask("setvol 5")[0].hasPrefix("ACK [4@0]"))
        #expect(try await client.ask("password b", "setvol 5") == ["OK"])
        #expect(try await client.ask("status")[0].hasPrefix("ACK [4@0]"))
    }

    @Test func `without a password the default permissions apply, on TCP only`() async throws {
        let fixture = try await MPDFixture(access: access("a@control", defaultPermissions: .read), onTCP: true)
        let client = try await fixture.connectTCP()
        #expect(try await client.ask("status").last == "OK")
        #expect(try await client.ask("stop")[0].hasPrefix("ACK [4@0]"))
        #expect(try await fixture.connect().ask("stop") == ["OK"])
        let open = try await MPDFixture(onTCP: true)
        #expect(try await open.connectTCP().ask("stop") == ["OK"])
    }

    @Test func `a wrong password is answered after a second, without delaying other clients`() async throws {
        let fixture = try await MPDFixture(access: access("right@read"), onTCP: true)
        let (guesser, other) = (try await fixture.connectTCP(), try await fixture.connect())
        let began = ContinuousClock.now
        try await guesser.send("password wrong\n")
        #expect(try await other.ask("status").last == "OK")
        #expect(ContinuousClock.now - began < .seconds(1))
        #expect(try await guesser.answer() == ["ACK [3@0] {password} incorrect password"])
        #expect(ContinuousClock.now - began >= .seconds(1))
    }

    @Test func `the fifth wrong password ends the connection, even within command lists`() async throws {
        var limits = MPDLimits()
        limits.passwordDelay = .milliseconds(10)
        let fixture = try await MPDFixture(access: access("right@read"), onTCP: true, limits: limits)
        let client = try await fixture.connectTCP()
        for number in 1...5 {
            let line = number == 2 ? "command_list_begin\npassword x\npassword y\ncommand_list_end\n" : "password x\n"
            try await client.send(line)
            #expect(try await client.answer() == ["ACK [3@0] {password} incorrect password"])
        }
        #expect(try await client.answer() == ["<closed>"])
    }

    @Test func `new connections do not reset the rate limit for passwords`() async throws {
        var limits = MPDLimits()
        limits.passwordDelay = .milliseconds(200)
        limits.passwordWait = .seconds(1)
        let log = LogLines()
        let fixture = try await MPDFixture(
            access: access("right@read"),
            onTCP: true,
            limits: limits,
            logger: Logger(label: "test") { _ in log }
        )
        let began = ContinuousClock.now
        var judged = 0
        // Guesses from many connections at the same time; each waits for its turn.
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    let client = try await fixture.connectTCP()
                    try await client.send("password wrong\n")
                    #expect(try await client.answer() == ["ACK [3@0] {password} incorrect password"])
                    try await client.send("ping\n")
                    return try await client.answer() == ["OK"]
                }
            }
            for try await isOpen in group where isOpen { judged += 1 }
        }
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        #expect(judged >= 3)
        // One guess every 0.2 s; a guess that would wait longer than the limit is closed without a verdict.
        #expect(Double(judged) <= seconds / 0.2 + 1, "\(judged) in \(seconds) s")
        // A correct password waits during an attack too, so the time of an answer reveals nothing.
        let (first, second) = (try await fixture.connectTCP(), try await fixture.connectTCP())
        try await first.send("password wrong\n")
        let line = "MPD: wrong password from 127.0.0.1"
        #expect(try await log.wait(for: 1, with: line).first == line)
        #expect(try await first.answer().last?.hasPrefix("ACK [3@0]") == true)
        #expect(try await second.ask("password right") == ["OK"])
    }

    @Test func `wrong passwords are counted in the log but never shown`() async throws {
        var limits = MPDLimits()
        limits.passwordDelay = .milliseconds(10)
        limits.passwordReport = .seconds(4)
        let log = LogLines()
        let fixture = try await MPDFixture(
            access: access("right@read"),
            onTCP: true,
            limits: limits,
            logger: Logger(label: "test") { _ in log }
        )
        for _ in 0..<2 {
            let client = try await fixture.connectTCP()
            for _ in 0..<4 { _ = try await client.ask("password hunter2") }
        }
        let line = "MPD: 7 more wrong passwords from 127.0.0.1"
        #expect(try await log.wait(for: 1, with: line).first == line)
        #expect(log.messages.count { $0.contains("wrong password") } == 2)
        #expect(!log.messages.contains { $0.contains("hunter2") })
    }

    @Test func `peers are distinguished by IPv4 address and by IPv6 network`() {
        let written = ["192.0.2.7", "::ffff:192.0.2.7", "2001:db8:1:2:3::4", "2001:db8:1:2::5", "2001:db8:1:3::5"]
        let peers = written.map { MPDPeer(address: $0) }
        #expect(
            peers.map(\.description) == [
                "192.0.2.7", "192.0.2.7", "2001:db8:1:2::/64", "2001:db8:1:2::/64", "2001:db8:1:3::/64",
            ]
        )
        #expect(Set(peers).count == 3)
    }

    @Test func `control characters in names and tags do not reach clients`() async throws {
        let evil = "a\nOK\u{1B}[2J\u{7F}\u{85}.mp3"
        let song = Song(
            path: evil,
            modified: Date(timeIntervalSince1970: 0),
            duration: 1,
            tags: [SongTag(.title, "x\nfile: y"), SongTag(.artist, "\u{1}\rb"), SongTag(.album, "\u{0}")]
        )
        let fixture = try await MPDFixture(database: ListDatabase(songs: [song]))
        let client = try await fixture.connect()
        _ = await fixture.player.add(["/srv/\(evil)"], at: nil)
        await fixture.player.fail("cannot\nOK")
        try await client.send("playlistadd mix \"a\u{1B}b\"\n")
        _ = try await client.answer()
        for command in [
            "lsinfo", "listall", "listallinfo", "playlist", "playlistinfo", "plchanges 0", "status", "currentsong",
            "list title", "list file", "find base \"\"", "search title x", "listplaylist mix", "listplaylistinfo mix",
            "nothing\u{1B}here", "lsinfo \"a\u{7}b\"",
        ] {
            try await client.send(command + "\n")
            let answer = try await client.answer()
            let text = answer.joined()
            let raw = text.unicodeScalars.filter { $0.properties.generalCategory == .control }
            #expect(raw.isEmpty, "\(command): \(answer)")
            #expect(answer.filter { $0 == "OK" }.count <= 1, "\(command): \(answer)")
        }
        #expect(try await client.ask("ping") == ["OK"])
    }
}
