import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// A service whose configuration does not say why it tracks.
@Suite(.sharing) struct LocationDescriptionTests {
    private static let reason = "no location.usageDescription in "

    @Test func `without a description the location mode is off, and status says why`() async throws {
        let service = try Service(TestConfiguration())
        try service.configure(yaml: "audio: {driver: \"null\"}\n")
        try await service.start()
        let status: ServiceStatus = try await service.json("status")
        #expect(status.modes == [.audio])
        let location = try #require(status.location)
        #expect(location.offReason?.hasPrefix(Self.reason) == true, "\(location)")
        #expect(location.connection == .off)
        let text = try await service.run("status").text
        #expect(text.contains("off: \(Self.reason)\(service.file("config.yaml")); add a sentence"), "\(text)")
        #expect(try await service.run("location").text.contains("off: \(Self.reason)"))

        // A client does not turn it on.
        let events = try service.events(attach: true)
        try await events.wait(forState: "attached client") {
            $0.status.state == .active && $0.status.location?.connection == .off
        }
        let start = try await service.command(["location", "start"])
        start.expectRefusal(1, ["the location mode is off: \(Self.reason)", "then run `backgrounder reload`"])
    }

    @Test func `a reload with a description turns the location mode on, and one without turns it off`() async throws {
        let service = try Service(TestConfiguration())
        try service.configure(yaml: "modes: [audio]\naudio: {driver: \"null\"}\nlocation: {distanceFilter: 5}\n")
        try await service.start()
        let warnings = { service.logLines().filter { $0.contains(" warning ") && $0.contains("has no effect") } }
        try await FileWatch(service.paths.log).wait(for: "has no effect")
        #expect(warnings().count == 1)
        #expect(warnings().first?.contains("config.yaml:3: location.distanceFilter has no effect") == true)
        try await service.run("reload")
        #expect(warnings().count == 1)
        let events = try service.events()

        try service.configure(TestConfiguration())
        try await service.run("reload")
        try await events.wait(forState: "location") {
            $0.status.location?.offReason == nil && $0.status.location?.connection == .replaying
        }
        try service.configure(yaml: "audio: {driver: \"null\"}\n")
        try await service.run("reload")
        try await events.wait(forState: "no location") {
            $0.status.location?.offReason != nil && $0.status.location?.connection == .off
        }
    }

    @Test func `a recording is refused while the location mode is off`() async throws {
        let service = try Service(TestConfiguration())
        try service.configure(yaml: "audio: {driver: \"null\"}\n")
        let run = try await service.command(["start", "--record", service.file("drive.jsonl")])
        run.expectRefusal(1, ["--record \(service.file("drive.jsonl")) needs the location mode", Self.reason])
        #expect(!FileManager.default.fileExists(atPath: service.file("drive.jsonl")))
    }
}
