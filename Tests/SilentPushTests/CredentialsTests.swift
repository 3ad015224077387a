import Foundation
import TestSupport
import Testing
import WebSupport

@testable import MQTTClient
@testable import SilentPush

@Suite struct CredentialsTests {
    @Test(arguments: [
        ("ann\nsecret\n", "ann", "secret"), ("ann\r\nse:cret", "ann", "se:cret"), ("ann:se:cret\n", "ann", "se:cret"),
        ("ann\n", "ann", nil),
    ])
    func `user and password are on two lines or on one`(content: String, user: String, password: String?) throws {
        let scratch = try ScratchDirectory()
        let path = try scratch.write(content, to: "c")
        chmod(path, 0o600)
        let credentials = try BrokerCredentials(path: path)
        #expect(credentials.user == user)
        #expect(credentials.password == password)
    }

    @Test func `a file that others may read, that is not a regular file or that is malformed is refused`() throws {
        let scratch = try ScratchDirectory()
        let path = try scratch.write("ann\nsecret", to: "c")
        for mode in [0o644, 0o640, 0o604] as [mode_t] {
            chmod(path, mode)
            #expect(throws: CredentialsError.open(path, mode: mode)) { try BrokerCredentials(path: path) }
        }
        #expect(throws: CredentialsError.missing("/nowhere")) { try BrokerCredentials(path: "/nowhere") }
        #expect(throws: CredentialsError.unreadable(scratch.path, "not a regular file")) {
            try BrokerCredentials(path: scratch.path)
        }
        mkfifo(scratch.file("fifo"), 0o600)
        #expect(throws: CredentialsError.self) { try BrokerCredentials(path: scratch.file("fifo")) }
        for content in ["", "a\nb\nc", "\n\n", ":x", "a\0b", String(repeating: "x", count: 5000)] {
            try scratch.write(content, to: "c")
            chmod(path, 0o600)
            #expect(throws: CredentialsError.form(path)) { try BrokerCredentials(path: path) }
        }
    }
}
