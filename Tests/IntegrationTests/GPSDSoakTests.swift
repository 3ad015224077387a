import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// A drive with every kind of fault in turn; `SOAK_SECONDS` makes it longer.
@Suite(.sharing, .inRealTime) struct GPSDSoakTests {
    private enum Fault: Hashable {
        case killed, ended, stopped, feedPaused, settings
        case garbled(GarblingProxy.Garbling)

        static let all =
            [Fault.killed, .stopped, .ended, .feedPaused, .settings]
            + GarblingProxy.Garbling.allCases.map { .garbled($0) }
    }

    @Test func `under every fault in turn no point is false or duplicated, and resource use does not grow`()
        async throws
    {
        let length = ProcessInfo.processInfo.environment["SOAK_SECONDS"].flatMap(Double.init) ?? 60
        let receiver = try Receiver()
        var gpsd = try receiver.startGPSD()
        let proxy = try GarblingProxy(to: receiver.port)
        let service = try Service(source: proxy.source)
        let pid = try await service.start()
        let events = try service.events()
        var sent: Set<Feed.Epoch> = []
        var feed = try Self.feed(receiver, round: 0)
        try await events.wait(for: "the first points") { $0.count("location") >= 10 ? true : nil }

        let began = ContinuousClock.now
        var baseline: ProcessFigures?
        var round = 0
        while ContinuousClock.now - began < .seconds(length) || round < Fault.all.count {
            let fault = Fault.all[round % Fault.all.count]
            let before = events.received.count("location")
            switch fault {
            case .killed, .ended:
                gpsd.kill(fault == .killed ? SIGKILL : SIGTERM)
                try await gpsd.waitForEnd()
                await pause(seconds: Double(round % 3))
                gpsd = try receiver.startGPSD()
            case .stopped:
                gpsd.kill(SIGSTOP)
                try await events.wait(for: "silence") { received in
                    received.payloads("state").last?.contains("\"quality\":\"silent\"") == true ? true : nil
                }
                gpsd.kill(SIGCONT)
            case .feedPaused:
                sent.formUnion(try await feed.stopped())
                await pause(seconds: 2)
                feed = try Self.feed(receiver, round: round + 1)
            case .settings:
                try await service.run("location", "accuracy", "hundredMeters")
                try await service.run("location", "accuracy", "best")
            case .garbled(let kind):
                for _ in 0..<3 { proxy.garble(kind) }
            }
            try await events.wait(for: "points after round \(round), \(fault)", within: 40) {
                $0.count("location") >= before + 20 ? true : nil
            }
            round += 1
            if round == Fault.all.count { baseline = try ProcessFigures(of: pid) }
        }
        sent.formUnion(try await feed.stopped())
        gpsd.kill()
        try await events.wait(forState: "the end of gpsd") { $0.status.location?.connection == .waiting }

        let history: [Location] = try await service.json("track", "history")
        #expect(Set(history.map(\.timestamp)).count == history.count, "a point is duplicated")
        for point in history {
            let place = String(format: "%.8f %.8f", point.latitude, point.longitude)
            #expect(
                sent.contains(Feed.Epoch(time: ISO8601.string(point.timestamp), place: place)),
                "the feed did not send \(point)"
            )
        }
        let status: LocationStatus = try await service.json("location")
        #expect(status.received == status.accepted + status.rejected.total)
        #expect(status.accepted == history.count)
        #expect(status.rejected[.invalid] > 0)
        let figures = try ProcessFigures(of: pid)
        let first = try #require(baseline)
        print("soak: \(round) faults, \(history.count) points; \(first), then \(figures)")
        #expect(figures.descriptors <= first.descriptors + 4)
        #expect(figures.threads <= first.threads + 4)
        #expect(figures.residentSize <= first.residentSize + (24 << 20))
        #expect(service.pid == pid, "the service has crashed")
    }

    /// Starts a feed of about eight fixes a second. Each round has its own hour, as repeated times are duplicates.
    private static func feed(_ receiver: Receiver, round: Int) throws -> Feed {
        let begin = ISO8601.string(Date().addingTimeInterval(Double(round) * 3600))
        return try receiver.feed(
            Products.repository("tracks/freeway-drive.gpx"),
            "--rate",
            "10",
            "--begin",
            begin
        )
    }
}
