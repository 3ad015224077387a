import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import BackgrounderCommands

/// The errors of commands whose socket does not answer.
@Suite struct ClientTests {
    private let scratch: ScratchDirectory
    private let paths: RuntimePaths

    init() throws {
        scratch = try ScratchDirectory()
        paths = RuntimePaths(home: scratch.path, environment: [:], userID: 1)
        try FileManager.default.createDirectory(atPath: scratch.file("run"), withIntermediateDirectories: true)
    }

    private func failure() async -> CommandFailure? {
        await #expect(throws: CommandFailure.self) {
            _ = try await Client.use(paths) { try await $0.call(Routes.status) }
        }
    }

    /// Returns a socket at the service's path that accepts connections.
    private func listen() throws -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(paths.controlSocket.utf8)
        try #require(path.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let bound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        try #require(Glibc.listen(listener, 1) == 0)
        return listener
    }

    @Test func `without a socket the service is not running`() async {
        #expect(await failure()?.kind == .notRunning)
    }

    @Test func `a socket that a killed service left behind means that it is not running`() async throws {
        close(try listen())
        #expect(await failure()?.kind == .notRunning)
    }

    @Test func `a service that closes the connection is not called stopped`() async throws {
        let listener = try listen()
        let closing = Thread {
            close(accept(listener, nil, nil))
            close(listener)
        }
        closing.start()
        let failure = try #require(await failure())
        #expect(failure.kind == .lostConnection)
        #expect(failure.exitCode == 3)
        #expect(failure.description == "lost the connection to the service; see `backgrounder log`")
    }

    @Test(.enabled(if: geteuid() != 0, "root may connect to every socket"))
    func `a socket of another user means that permission is missing`() async throws {
        let listener = try listen()
        defer { close(listener) }
        try #require(chmod(paths.controlSocket, 0) == 0)
        let failure = try #require(await failure())
        #expect(failure.exitCode == 1)
        #expect(failure.description.contains("permission denied"), "\(failure)")
    }
}
