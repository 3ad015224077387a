import Foundation
import TestSupport
import Testing

@testable import WebSupport

@Suite struct WebCredentialsTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func file(_ text: String) throws -> String {
        let path = try scratch.write(text, to: "credentials")
        chmod(path, 0o600)
        return path
    }

    @Test(arguments: [
        ("user = ann\npassword = se cret=\n", ["Authorization: Basic YW5uOnNlIGNyZXQ9"]),
        ("\n# a comment\r\n  user=ann\r\n", ["Authorization: Basic YW5uOg=="]),
        ("header = X-Key:  a: b \nbearer = abc.def==", ["Authorization: Bearer abc.def==", "X-Key: a: b"]),
        ("header = Authorization: Digest x\nheader=X: y", ["Authorization: Digest x", "X: y"]),
    ])
    func `users, tokens and headers are read`(text: String, fields: [String]) throws {
        let read = try WebCredentials(path: file(text)).fields
        #expect(read.map { "\($0.name): \($0.value)" } == fields)
    }

    @Test(arguments: [
        ("", 1), ("# nothing\n", 1), ("user = a\n\nann:secret", 3), ("token = secret", 1), ("User = a", 1),
        ("user = a:b", 1), ("user =", 1), ("user = a\nuser = b", 2), ("password = secret", 1),
        ("user = a\nbearer = secret", 2), ("bearer = se cret", 1), ("bearer = s\u{e9}cret", 1),
        ("user = a\u{1}", 1), ("header = X", 1), ("header = X:", 1), ("header = X Y: secret", 1),
        ("header = : secret", 1), ("header = Host: secret", 1), ("header = content-length: 7", 1),
        ("bearer = a\nheader = authorization: secret", 2), (String(repeating: "#", count: 20_000), 1),
        ("user = a\0", 1),
    ])
    func `an invalid file is refused with its line number and without its secrets`(text: String, line: Int) throws {
        let path = try file(text)
        let error = try #require(throws: CredentialsError.self) { try WebCredentials(path: path) }
        #expect("\(error)".hasPrefix("\(path):\(line): "), "\(error)")
        #expect(!"\(error)".contains("secret"), "\(error)")
        #expect(!"\(error)".contains("\n"), "\(error)")
    }

    @Test func `a file that others may read, a missing file and a folder are refused`() throws {
        let path = try file("user = a")
        for mode in [0o644, 0o640, 0o604] as [mode_t] {
            chmod(path, mode)
            #expect(throws: CredentialsError.open(path, mode: mode)) { try WebCredentials(path: path) }
        }
        #expect(throws: CredentialsError.missing("/nowhere")) { try WebCredentials(path: "/nowhere") }
        #expect(throws: CredentialsError.self) { try WebCredentials(path: scratch.path) }
    }
}
