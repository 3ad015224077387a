import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// The service while its gpsd is gone or silent, and after its return.
@Suite(.sharing, .inRealTime) struct GPSDAbsenceTests {
    @Test(arguments: [0.2, 3, 8])
    func `points resume within 5 s of a restart of gpsd, and each change is logged once`(seconds: Double) async throws {
        let receiver = try Receiver()
        let first = try receiver.startGPSD()
        let service = try Service(source: receiver.source)
        try await service.start()
        let events = try service.events()
        let track = Products.repository("tracks/freeway-drive.gpx")
        let feed = try receiver.feed(track, "--rate", "20", "--count", "900")
        try await events.wait(for: "50 points") { $0.count("location") >= 50 ? true : nil }

        first.kill()
        try await first.waitForEnd()
        try await events.wait(forState: "loss") { $0.status.location?.connection == .waiting }
        let before = events.received.count("location")
        let lines = service.logLines().count
        await pause(seconds: seconds)
        #expect(service.logLines().count == lines, "logged while gpsd was gone: \(service.logLines().suffix(3))")
        let second = try receiver.startGPSD()
        let began = ContinuousClock.now
        try await events.wait(for: "the next point") { $0.count("location") > before ? true : nil }
        let took = ContinuousClock.now - began
        print("gpsd gone for \(seconds) s: the next point \(took) after its restart")
        #expect(took < .seconds(5))
        try await events.wait(for: "50 more points") { $0.count("location") >= before + 50 ? true : nil }
        feed.stop()
        let said = service.logLines().filter { $0.contains("Location of gpsd") && !$0.contains("New location") }
        #expect(said.count == Set(said).count, "a line is logged twice: \(said)")
        #expect(said.count { $0.contains("is disconnected") } == 1, "\(said)")
        second.kill()
    }

    /// The reason for gpsd's silence.
    enum Fault: CaseIterable, Sendable {
        case killed, stopped, mute, halfALine, dropping
    }

    @Test(arguments: Fault.allCases)
    func `a dead or silent gpsd is reported within 8 s in one line and costs under 0.01 cores`(fault: Fault)
        async throws
    {
        let fake = try FakeGPSD()
        let receiver = try Receiver()
        let gpsd = try receiver.startGPSD()
        let isReal = fault == .killed || fault == .stopped
        let service = try Service(source: isReal ? receiver.source : "gpsd://127.0.0.1:\(fake.port)")
        let pid = try await service.start()
        let events = try service.events()
        var client: FakeGPSD.Client?
        if isReal {
            let feed = try receiver.feed(Products.repository("tracks/freeway-drive.gpx"), "--rate", "20")
            try await events.wait(for: "20 points") { $0.count("location") >= 20 ? true : nil }
            gpsd.kill(fault == .killed ? SIGKILL : SIGSTOP)
            feed.stop()
        } else {
            client = try await fake.client()
            if fault == .halfALine { client?.send("{\"class\":\"TPV\",\"mode\":3,\"lat\":48.1".utf8) }
            if fault == .dropping { fake.dropNewClients() }
            if fault == .dropping { client?.hangUp() }
        }
        let began = ContinuousClock.now
        let lines = service.logLines().count { $0.contains("Location of") }
        try await events.wait(forState: "the report of the fault") {
            $0.status.location?.quality == (fault == .killed || fault == .dropping ? .disconnected : .silent)
        }
        #expect(ContinuousClock.now - began < .seconds(8))
        await pause(seconds: 1)
        let before = try ProcessFigures(of: pid)
        await pause(seconds: 12)
        let after = try ProcessFigures(of: pid)
        let share = (after.processorTime - before.processorTime) / 12
        print("\(fault): \(share * 100) % of a core")
        #expect(share < 0.01)
        #expect(service.logLines().count { $0.contains("Location of") } <= lines + 1, "\(service.logLines())")
        withExtendedLifetime(client) {}
    }
}
