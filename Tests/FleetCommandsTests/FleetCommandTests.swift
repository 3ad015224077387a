import BackgrounderAPI
import Foundation
import MQTTClient
import SystemSupport
import TestSupport
import Testing

@testable import FleetCommands

/// Commands as messages: valid and invalid ones, and their signatures.
@Suite struct FleetCommandTests {
    private func parse(_ text: String) throws(CommandFault) -> FleetCommand { try FleetCommand(Array(text.utf8)) }

    @Test func `every kind of command survives the way through JSON`() throws {
        let sound = FleetCommand.Sound(duck: 0.25, priority: -3)
        let digest = String(repeating: "0a", count: 32)
        let bus = try MachineID("bus12")
        for order in [
            .announce(item: "stops/harbour.wav", sha256: digest, sound), .announce(item: "a.mp3", sha256: nil, .init()),
            .say(text: "Grüße \"/\" 🚌", sound), .play, .pause, .next, .volume(0.4), .fetch(source: "news"), .report,
            .status,
        ] as [FleetCommand.Order] {
            for address in [.machines([bus]), .group(bus)] as [FleetCommand.Address] {
                let command = FleetCommand(
                    order,
                    expires: Date(timeIntervalSince1970: 1_800_000_060.5),
                    at: Date(timeIntervalSince1970: 1_800_000_000),
                    to: address
                )
                #expect(try FleetCommand(command.content) == command)
            }
        }
    }

    @Test func `a command of the wrong kind is refused with the field and what it must be`() throws {
        func body(_ rest: String) -> String { #"{"id":"a","expires":1800000000,\#(rest)}"# }
        let cases: [(String, String, Bool)] = [
            ("", "not a JSON object", false), ("[]", "not a JSON object", false), ("{", "not a JSON object", false),
            (#"{"do":"play"}"#, "has no id", false), (#"{"id":1}"#, "id is not a text", false),
            (#"{"id":""}"#, "1 to 128 characters", false),
            (#"{"id":"\#(String(repeating: "x", count: 129))"}"#, "1 to 128 characters", false),
            (#"{"id":"a","do":"play"}"#, "expires is missing", true),
            (#"{"id":"a","do":"play","expires":"soon"}"#, "expires is not a number", true),
            (#"{"id":"a","do":"play","expires":-1}"#, "expires is not a time", true),
            (#"{"id":"a","do":"play","expires":1e300}"#, "expires is not a time", true),
            (#"{"id":"a","expires":1}"#, "do is missing", true),
            (body(#""do":"reboot""#), #""reboot" is not a command; use one of announce, say"#, true),
            (body(#""do":7"#), "do is not a text", true),
            (body(#""do":"announce""#), "item is missing", true),
            (body(#""do":"announce","item":"/etc/passwd""#), "not the name of an item", true),
            (body(#""do":"announce","item":"../a.wav""#), "not the name of an item", true),
            (body(#""do":"announce","item":"a/./b.wav""#), "not the name of an item", true),
            (body(#""do":"announce","item":"../\u0338x.wav""#), "not the name of an item", true),
            (body(#""do":"announce","item":"http://h/a.wav""#), "not the name of an item", true),
            (body(#""do":"announce","item":"a\u0000.wav""#), "item is not a text", true),
            (body(#""do":"announce","item":"a.wav","sha256":"1""#), "sha256 is not 64", true),
            (body(#""do":"announce","item":"a.wav","duck":2"#), "duck is not a level", true),
            (body(#""do":"announce","item":"a.wav","duck":"x""#), "duck is not a number", true),
            (body(#""do":"announce","item":"a.wav","priority":1.5"#), "priority is not a whole number", true),
            (body(#""do":"say","text":"  ""#), "text is not a text, or it is empty", true),
            (body(#""do":"volume","text":"140%""#), "the text is not a volume", true),
            (body(#""do":"volume","text":"nan%""#), "the text is not a volume", true),
            (body(#""do":"volume","text":"0.6""#), "the text is not a volume", true),
            (body(#""do":"fetch""#), "item is missing", true),
            (body(#""do":"play","at":1800000000"#), "the time at is not before expires", true),
            (body(#""do":"play","to":"bus12""#), "the field to is not a list", true),
            (body(#""do":"play","to":[]"#), "the field to is not a list", true),
            (body(#""do":"play","to":["Bus 12"]"#), "not a valid machine id", true),
        ]
        for (text, words, hasID) in cases {
            let fault = #expect(throws: CommandFault.self) { try parse(text) }
            #expect(fault?.description.contains(words) == true, "\(text): \(fault?.description ?? "")")
            #expect((fault?.id != nil) == hasID, "\(text)")
        }
        let large = #"{"id":"\#(String(repeating: "x", count: 5000))"}"#
        #expect(throws: CommandFault.self) { try parse(large) }
        let deep = #"{"id":"a","x":"# + String(repeating: "[", count: 2000)
        #expect(throws: CommandFault.self) { try parse(deep) }
        #expect(throws: CommandFault.self) { try FleetCommand([0xFF, 0xFE]) }
    }

    @Test func `a signature covers each field, and only the right key makes it`() async throws {
        let scratch = try ScratchDirectory()
        for name in ["office", "thief"] {
            let (key, publicKey) = (scratch.file(name), scratch.file("\(name).pub"))
            try await Tool.run("openssl", "genpkey", "-algorithm", "ed25519", "-out", key)
            try await Tool.run("openssl", "pkey", "-in", key, "-pubout", "-out", publicKey)
            try await Tool.run("chmod", "600", key)
        }
        let office = try VerifyingKey(path: scratch.file("office.pub"))
        let command = FleetCommand(
            .say(text: "Größe / 1", .init(duck: 0.2)),
            expires: Date(timeIntervalSince1970: 1_800_000_000),
            to: .machines([try MachineID("bus12")])
        )
        let signed = try command.content(signedWith: SigningKey(path: scratch.file("office")))
        #expect(FleetCommand.isSigned(signed, byOneOf: [office]))
        #expect(!FleetCommand.isSigned(try command.content, byOneOf: [office]))
        let forged = try command.content(signedWith: SigningKey(path: scratch.file("thief")))
        #expect(!FleetCommand.isSigned(forged, byOneOf: [office]))
        #expect(FleetCommand.isSigned(forged, byOneOf: [office, try VerifyingKey(path: scratch.file("thief.pub"))]))
        for (old, new) in [("0.2", "0.3"), ("Größe", "Grösse"), ("bus12", "bus13"), ("1800000000", "1900000000")] {
            let text = String(decoding: signed, as: UTF8.self)
            let changed = text.replacing(old, with: new)
            #expect(changed != text)
            #expect(!FleetCommand.isSigned(Array(changed.utf8), byOneOf: [office]), "\(changed)")
        }

        // Another implementation of the documented form.
        let script = """
            import json, sys, base64, subprocess
            command = {"expires": 1800000000, "id": "é\\u0007", "do": "volume", "text": "5%", "duck": 0.25, "z": [1, None, True]}
            plain = json.dumps(command, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
            open(sys.argv[2], "wb").write(plain)
            signature = subprocess.run(["openssl", "pkeyutl", "-sign", "-inkey", sys.argv[1], "-rawin", "-in", sys.argv[2]],
                                       check=True, capture_output=True).stdout
            print(json.dumps(command | {"sig": base64.b64encode(signature).decode()}))
            """
        let run = try await ProgramRun.of(
            "/usr/bin/python3",
            ["-c", script, scratch.file("office"), scratch.file("plain")]
        )
        try #require(run.exitCode == 0, "\(run)")
        #expect(FleetCommand.isSigned(Array(run.output), byOneOf: [office]))
    }

    @Test func `a file that is not an Ed25519 key is reported`() async throws {
        let scratch = try ScratchDirectory()
        #expect(throws: (any Error).self) { try VerifyingKey(path: scratch.file("none")) }
        try scratch.write("text", to: "text")
        #expect(throws: (any Error).self) { try VerifyingKey(path: scratch.file("text")) }
        #expect(throws: (any Error).self) { try SigningKey(path: scratch.file("text")) }
        try await Tool.run(
            "openssl",
            "genpkey",
            "-algorithm",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-out",
            scratch.file("ec")
        )
        try await Tool.run("chmod", "600", scratch.file("ec"))
        #expect(throws: (any Error).self) { try SigningKey(path: scratch.file("ec")) }
        // A key with a password must not make OpenSSL ask for it.
        try await Tool.run(
            "openssl",
            "genpkey",
            "-algorithm",
            "ed25519",
            "-aes256",
            "-pass",
            "pass:x",
            "-out",
            scratch.file("locked")
        )
        try await Tool.run("chmod", "600", scratch.file("locked"))
        #expect(throws: (any Error).self) { try SigningKey(path: scratch.file("locked")) }
    }
}
