import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// `kill -9` at random moments of a drive past places with rules.
@Suite(.sharingLong) struct PlaceCrashTests {
    private static let rounds = 200
    /// Fixes between two places.
    private static let spacing = 60

    @Test(.timeLimit(.minutes(20)))
    func `after 200 kills no rule has acted twice at a place, and no place was entered twice or missed`() async throws {
        let fixes = 120_000
        let service = try Service(TestConfiguration())
        let track = try service.scratch.write(await computing { Self.track(fixes) }, to: "drive.gpx")
        let count = fixes / Self.spacing
        try service.scratch.write(Self.places(count), to: "places.csv")
        let marks = service.file("marks")
        var configuration = TestConfiguration(modes: "[audio, location]")
        configuration.source = "gpx:\(track)?rate=300"
        configuration.rest = [
            "places:", "  import: [places.csv]", "  rules:",
            "    - {name: in, on: enter, once: ever, task: mark}",
            "    - {name: through, on: pass, once: ever, task: mark}", "tasks:", "  hooks:", "    mark:",
            "      on: place",
            "      environment: {MARKS: \(try JSON.line(marks))}",
            "      command: [/bin/sh, -c, 'echo \"$BACKGROUNDER_PLACE\" >> \"$MARKS\"']",
        ]
        try service.configure(configuration)
        for round in 1...Self.rounds {
            let launch = try ServiceLaunch(service)
            // Kill it during its start in every fourth round, otherwise while it drives.
            let diesEarly = round.isMultiple(of: 4)
            if diesEarly { launch.kill(after: .random(in: 0.02...0.3)) }
            if try await launch.isReady(), !diesEarly { launch.kill(after: .random(in: 0...1)) }
            try await launch.waitForEnd()
        }
        try await service.start()
        try await service.run("location", "stop")
        let location: LocationStatus = try await service.json("location")
        var events: [PlaceEvent] = []
        for number in 0..<count {
            let found: [PlaceEvent] = try await service.events(at: "P\(number)")
            guard !found.isEmpty else { break }
            events += found
        }
        try await Self.waitForTasks(service)

        let arrivals = events.filter { $0.event == .enter || $0.event == .pass }
        #expect(!arrivals.contains { $0.initial == true })
        // The machine is past all places up to the last one that it came to.
        let passed = location.received / Self.spacing - 1
        #expect(passed > Self.rounds, "too few places to tell anything")
        #expect(arrivals.map(\.place) == (0..<max(passed, arrivals.count)).map { "P\($0)" })
        let leaves = events.filter { $0.event == .leave }.map(\.place)
        #expect(Set(leaves).count == leaves.count)

        let text = try String(contentsOfFile: marks, encoding: .utf8)
        let acted = text.split(separator: "\n").map(String.init)
        #expect(Set(acted).count == acted.count, "a rule has acted twice at a place")
        let fired = Set(arrivals.filter { $0.actions.map(\.outcome) == [.fired] }.map(\.place))
        #expect(fired.subtracting(acted).isEmpty)
        // Those that a kill interrupted say so, and may have acted.
        let others = arrivals.filter { !fired.contains($0.place) }
        #expect(others.allSatisfy { $0.actions.map(\.outcome) == [.failed] }, "\(others)")
        #expect(fired.count > others.count, "\(others.count) of \(arrivals.count) were interrupted")
    }

    /// A drive to the north at 10 m/s.
    private static func track(_ fixes: Int) -> String {
        let body = (0..<fixes).map { number in
            let time = ISO8601.string(Date(timeIntervalSince1970: 1_700_000_000 + Double(number)))
            return "<trkpt lat=\"\(latitude(Double(number)))\" lon=\"11.5\"><time>\(time)</time></trkpt>\n"
        }
        return "<gpx version=\"1.1\" creator=\"test\" xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><trkseg>\n"
            + body.joined() + "</trkseg></trk></gpx>\n"
    }

    private static func places(_ count: Int) -> String {
        "name,latitude,longitude,radius\n"
            + (0..<count).map { "P\($0),\(latitude((Double($0) + 0.5) * Double(spacing))),11.5,40\n" }.joined()
    }

    private static func latitude(_ fix: Double) -> String { String(format: "%.7f", -5 + fix * 0.00009) }

    /// Waits until no task runs.
    private static func waitForTasks(_ service: Service) async throws {
        let events = try service.events()
        _ = try await events.wait(forState: "the end of all tasks") { $0.status.tasks?.isEmpty ?? true }
    }
}

extension Service {
    fileprivate func events(at place: String) async throws -> [PlaceEvent] {
        try await json("place", "log", "--place", place, "-n", "1000")
    }
}
