import Foundation
import TestSupport
import Testing

/// The unit, and the service's notifications to systemd, without a running systemd.
@Suite(.sharing) struct SystemdTests {
    private static let analyzer = "/usr/bin/systemd-analyze"
    private let unit = Products.repository("Packaging/backgrounder.service")

    @Test func `the service tells systemd when it is ready, alive and stopping`() async throws {
        let service = try Service(TestConfiguration())
        let socket = try NotifySocket(service.file("notify"))
        try await service.start(adding: ["NOTIFY_SOCKET": service.file("notify"), "WATCHDOG_USEC": "400000"])
        try await socket.wait(for: "READY=1")
        try await socket.wait(for: "WATCHDOG=1", count: 4)
        try await service.run("stop")
        try await socket.wait(for: "STOPPING=1")
    }

    @Test func `without a watchdog there are no heartbeats`() async throws {
        let service = try Service(TestConfiguration())
        let socket = try NotifySocket(service.file("notify"))
        try await service.start(adding: ["NOTIFY_SOCKET": service.file("notify")])
        try await service.run("stop")
        try await socket.wait(for: "STOPPING=1")
        #expect(!socket.messages.contains("WATCHDOG=1"))
    }

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: analyzer),
            "systemd-analyze is missing; install systemd"
        )
    )
    func `the exposure level of the unit is at most 1.2`() async throws {
        let scratch = try ScratchDirectory()
        let text = try String(contentsOfFile: unit, encoding: .utf8).replacing("@PREFIX@", with: "/usr")
        let path = try scratch.write(text, to: "backgrounder.service")
        let run = try await ProgramRun.of(
            Self.analyzer,
            ["security", "--offline=true", "--no-pager", "--threshold=12", path]
        )
        #expect(run.exitCode == 0, "\(run.text)")
        #expect(run.text.contains("Overall exposure level"), "\(run)")
    }

    @Test func `the unit has a watchdog and resource limits`() throws {
        let lines = try String(contentsOfFile: unit, encoding: .utf8).split(separator: "\n")
        let values = Dictionary(
            lines.compactMap { line -> (Substring, Substring)? in
                guard !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { return nil }
                return (line[..<equals], line[line.index(after: equals)...])
            },
            uniquingKeysWith: { $1 }
        )
        #expect(values["Type"] == "notify")
        #expect(Int(values["WatchdogSec"] ?? "") ?? 0 > 0)
        #expect(values["MemoryMax"] != nil)
        #expect(Int(values["TasksMax"] ?? "") ?? 0 > 0)
    }
}
