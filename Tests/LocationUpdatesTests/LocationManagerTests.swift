import BackgrounderAPI
import Foundation
import LocationUpdates
import SystemSupport
import TestSupport
import Testing

@Suite struct LocationManagerTests {
    let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    /// Writes a file of `count` points that are `step` seconds and 5 m apart, with `bad` inserted before the end.
    @discardableResult
    func track(
        _ name: String = "track.gpx",
        count: Int,
        step: Int = 1,
        bad: String = "",
        end: String = "</trkseg></trk></gpx>"
    ) throws -> String {
        let points = (0..<count).map { index in
            let when = ISO8601.string(time(Double(index * step)))
            return
                "<trkpt lat=\"\(48 + Double(index) * 5 / metresPerDegree)\" lon=\"11\"><time>\(when)</time></trkpt>\n"
        }
        return try scratch.write("<gpx><trk><trkseg>\n\(points.joined())\(bad)\(end)", to: name)
    }

    func source(_ rate: String, name: String = "track.gpx") -> String {
        "gpx:\(scratch.file(name))?rate=\(rate)"
    }

    @Test func `a file is replayed to its end, every point is stored, and the newest 100 are the track`() async throws {
        try track(count: 2500, bad: "<trkpt lat=\"\" lon=\"\"/>")
        let rig = try await LocationRig(source("max"))
        let status = try await rig.wait(for: "end") { $0.connection == .finished }
        #expect(status.received == 2501)
        #expect(status.accepted == 2500)
        #expect(status.rejected[.invalid] == 1)
        #expect(status.trackCount == 100)
        #expect(status.quality == .ok)
        #expect(status.lastRejection?.reason == .invalid)
        let stored = await rig.journal.points
        #expect(stored.count == 2500)
        #expect(rig.locations == stored)
        #expect(await rig.manager.track(last: 100) == Array(stored.suffix(100)))
        #expect(stored.map(\.timestamp) == (0..<2500).map { time(Double($0)) })
        try await rig.shutDown()
    }

    @Test func `fixes that passed the gate and the rules of time are reported, delivered or not`() async throws {
        let late = "<trkpt lat=\"48.0005\" lon=\"11\"><time>\(ISO8601.string(time(15)))</time></trkpt>"
        let leap = "<trkpt lat=\"50\" lon=\"11\"><time>\(ISO8601.string(time(20)))</time></trkpt>"
        try track(count: 20, bad: "<trkpt lat=\"\" lon=\"\"/>" + late + leap)
        let rig = try await LocationRig(source("max"), settings: LocationSettings(distanceFilter: 50))
        let status = try await rig.wait(for: "end") { $0.connection == .finished }
        #expect(status.accepted == 2)
        #expect(status.rejected[.distance] == 19)
        #expect(status.rejected.total == 21)
        #expect(rig.passed.map(\.location.timestamp) == (0..<20).map { time(Double($0)) })
        #expect(rig.passed.map(\.arrival.seconds) == (0..<20).map { time(Double($0)).timeIntervalSince1970 })
        #expect(rig.passed.filter { rig.locations.contains($0.location) }.count == 2)
        try await rig.shutDown()
    }

    @Test(arguments: [("10", 1.0), ("20", 0.5)])
    func `a replay keeps the pace of the points' times`(rate: String, seconds: Double) async throws {
        try track(count: 11)
        let began = ContinuousClock.now
        let rig = try await LocationRig(source(rate))
        try await rig.wait(for: "end") { $0.connection == .finished }
        let taken = (ContinuousClock.now - began) / .seconds(1)
        #expect(taken >= seconds * 0.99)
        #expect(taken < seconds + 60)
        try await rig.shutDown()
    }

    @Test(
        arguments: [
            ("gpx", "<gpx><trk><trkseg/></trk></gpx>", "has no track points"),
            (
                "gpsd-log", #"{"class":"VERSION","release":"3.22","proto_major":3,"proto_minor":14}"#,
                "has no fix (TPV)"
            ),
        ]
    )
    func `a file without a fix ends with the reason`(kind: String, content: String, reason: String) async throws {
        let file = try scratch.write(content, to: "empty.track")
        let rig = try await LocationRig("\(kind):\(file)?rate=max")
        let status = try await rig.wait(for: "end") { $0.connection == .finished }
        #expect(status.received == 0)
        #expect(status.quality == .searching)
        #expect(
            status.qualityDetail?.hasPrefix("\(file) \(reason)") == true,
            "\(String(describing: status.qualityDetail))"
        )
        try await rig.shutDown()
    }

    @Test func `a damaged file gives its good points and a fault with its line`() async throws {
        try track(count: 5, end: "<trkpt")
        let rig = try await LocationRig(source("max"))
        let status = try await rig.wait(for: "end") { $0.connection == .finished }
        #expect(status.accepted == 5)
        #expect(status.qualityDetail?.hasPrefix("\(scratch.file("track.gpx")):7: damaged XML") == true)
        #expect(rig.log.lines.contains { $0.hasPrefix("error") && $0.contains(":7: ") })
        try await rig.shutDown()
    }

    @Test(
        arguments: [1, 2, 3]
    )
    func `a replay continues after a crash with the next point, without losses or repeats`(round: Int) async throws {
        try track(count: 1000, bad: "<trkpt/>")
        var rig = try await LocationRig(source("200"), settings: LocationSettings(distanceFilter: 12))
        for stop in 1...round {
            try await rig.wait(for: "\(60 * stop) points") { $0.received >= 60 * stop }
            let journal = await rig.journal.copy()
            try await rig.shutDown()
            rig = try await LocationRig(source("200"), settings: LocationSettings(distanceFilter: 12), journal: journal)
        }
        let status = try await rig.wait(for: "end") { $0.connection == .finished }
        #expect(status.received == 1001)
        #expect(status.rejected[.invalid] == 1)
        let stored = await rig.journal.points
        #expect(stored.count == 334)
        #expect(stored.filter { $0.segmentStart == true }.count == 1)
        #expect(Set(stored.map(\.timestamp)).count == stored.count)
        try await rig.shutDown()
    }

    @Test func `a finished or cleanly stopped replay starts over and opens a segment`() async throws {
        try track(count: 10)
        var rig = try await LocationRig(source("max"))
        try await rig.wait(for: "end") { $0.connection == .finished }
        rig = try await LocationRig(source("max"), journal: await rig.journal.copy())
        try await rig.wait(for: "second end") { $0.received == 20 }
        let stored = await rig.journal.points
        try #require(stored.count == 20)
        #expect(stored[10].segmentStart == true)

        try track("slow.gpx", count: 10, step: 3000)
        let slow = try await LocationRig(source("1", name: "slow.gpx"))
        try await slow.wait(for: "first point") { $0.received == 1 }
        try await slow.shutDown()
        rig = try await LocationRig(source("1", name: "slow.gpx"), journal: await slow.journal.copy())
        let status = try await rig.wait(for: "first point again") { $0.received == 2 }
        #expect(status.accepted == 2)
        try await rig.shutDown()
    }

    @Test func `stopping survives a restart, and a second stop or start changes nothing`() async throws {
        try track(count: 10, step: 3000)
        var rig = try await LocationRig(source("1"))
        try await rig.wait(for: "first point") { $0.received == 1 }
        await rig.manager.startUpdatingLocation()
        let commits = await rig.journal.commits
        await rig.manager.stopUpdatingLocation()
        await rig.manager.stopUpdatingLocation()
        #expect(await rig.journal.commits == commits + 1)
        let stopped = await rig.manager.status()
        #expect(!stopped.updating)
        #expect(stopped.connection == .off)
        #expect(stopped.quality == nil)
        try await rig.shutDown()
        rig = try await LocationRig(source("1"), journal: await rig.journal.copy())
        #expect(await rig.manager.status().connection == .off)
        await rig.manager.startUpdatingLocation()
        let status = try await rig.wait(for: "a point of a new run") { $0.received == 2 }
        #expect(status.updating)
        #expect(status.lastFix?.segmentStart == true)
        try await rig.shutDown()
    }

    @Test func `a suspended source is off, and a resumed replay continues where it was`() async throws {
        try track(count: 600)
        let rig = try await LocationRig(source("200"))
        try await rig.wait(for: "20 points") { $0.received >= 20 }
        await rig.manager.suspend()
        let suspended = await rig.manager.status()
        #expect(suspended.connection == .off)
        #expect(suspended.updating)
        #expect(suspended.received < 600)
        await rig.manager.resume()
        let status = try await rig.wait(for: "end") { $0.connection == .finished }
        #expect(status.received == 600)
        #expect(status.accepted == 600)
        await rig.manager.suspend()
        await rig.manager.resume()
        #expect(await rig.manager.status().connection == .finished)
        #expect(await rig.manager.status().received == 600)
        try await rig.shutDown()
    }

    @Test(.timeLimit(.minutes(2)), arguments: 1...16)
    func `a replay that is suspended at any moment loses no point`(number: Int) async throws {
        try track(count: 600)
        let rig = try await LocationRig(source("600"))
        for stop in 1...20 {
            try await rig.wait(for: "points") { $0.received >= 20 * stop }
            await rig.manager.suspend()
            #expect(await rig.manager.status().connection == .off)
            await rig.manager.resume()
        }
        #expect(try await rig.wait(for: "end") { $0.connection == .finished }.received == 600)
        try await rig.shutDown()
    }

    @Test func `settings apply while running and are stored immediately`() async throws {
        try track(count: 400)
        let rig = try await LocationRig(source("400"))
        try await rig.wait(for: "points") { $0.accepted >= 10 }
        await rig.manager.apply(
            LocationSettings(desiredAccuracy: .kilometer, distanceFilter: 1000, maximumAccuracy: 50)
        )
        let now = await rig.manager.status()
        #expect(now.desiredAccuracy == .kilometer)
        #expect(now.target == 1000)
        #expect(now.acceptLimit == 3000)
        #expect(now.distanceFilter == 1000)
        #expect(now.maximumAccuracy == 50)
        let stored = try await rig.journal.checkpoint()
        #expect(
            stored?.filter.settings
                == LocationSettings(desiredAccuracy: .kilometer, distanceFilter: 1000, maximumAccuracy: 50)
        )
        let status = try await rig.wait(for: "end") { $0.connection == .finished }
        #expect(status.rejected[.noAccuracy] == 400 - status.accepted)
        try await rig.shutDown()
    }

    @Test func `another source starts over and is not compared with the previous one`() async throws {
        try track(count: 10, step: 3000)
        try scratch.write(
            "<gpx><trkpt lat=\"-33\" lon=\"151\"><time>2001-01-01T00:00:00Z</time></trkpt></gpx>",
            to: "other.gpx"
        )
        let rig = try await LocationRig(source("1"))
        try await rig.wait(for: "first point") { $0.received == 1 }
        await rig.manager.setSource(try LocationSource(source("max", name: "other.gpx"), relativeTo: "/"))
        let status = try await rig.wait(for: "end") { $0.connection == .finished }
        #expect(status.accepted == 2)
        #expect(status.lastFix?.latitude == -33)
        #expect(status.lastFix?.segmentStart == true)
        #expect(status.source == source("max", name: "other.gpx"))
        try await rig.shutDown()
    }

    @Test func `tracking continues while the journal is full, and waiting points are stored later`() async throws {
        try track(count: 900)
        let rig = try await LocationRig(source("300"))
        try await rig.wait(for: "points") { $0.accepted >= 10 }
        await rig.journal.setFull(true)
        let kept = await rig.journal.points.count
        try await rig.wait(for: "points in memory") { $0.accepted >= kept + 20 && $0.trackCount >= 30 }
        #expect(await rig.journal.points.count == kept)
        await rig.journal.setFull(false)
        let status = try await rig.wait(for: "end") { $0.connection == .finished }
        #expect(status.accepted == 900)
        let stored = await rig.journal.points
        #expect(stored.map(\.timestamp) == (0..<900).map { time(Double($0)) })
        #expect(rig.log.lines.filter { $0.contains("Cannot store the location history") }.count == 1)
        #expect(rig.log.lines.filter { $0.contains("Storing the location history again") }.count == 1)
        try await rig.shutDown()
    }

    @Test func `thirty seconds of poor fixes are starved, with the reason, the value and the limit`() async throws {
        let points = (0...40).map { second in
            "<trkpt lat=\"48\" lon=\"11\"><time>\(ISO8601.string(time(Double(second))))</time><hdop>4.4</hdop></trkpt>"
        }
        try scratch.write("<gpx>\(points.joined())</gpx>", to: "poor.gpx")
        let rig = try await LocationRig(source("max", name: "poor.gpx"))
        let status = try await rig.wait(for: "end") { $0.connection == .finished }
        #expect(status.quality == .starved)
        #expect(
            status.qualityDetail
                == "41 fixes in the last 60 s, accuracy 48.3 m, limit 30 m; try `location accuracy hundredMeters`"
        )
        #expect(rig.log.lines.count { $0.contains("starved") } == 1)
        try await rig.shutDown()
    }

    @Test func `a jump of the receiver's clock is not starvation`() async throws {
        let points = [0.0, 1, 2, -86_400, 3, 4, -40_000].map { second in
            "<trkpt lat=\"48\" lon=\"11\"><time>\(ISO8601.string(time(second)))</time></trkpt>"
        }
        try scratch.write("<gpx>\(points.joined())</gpx>", to: "jump.gpx")
        let rig = try await LocationRig(source("max", name: "jump.gpx"))
        let status = try await rig.wait(for: "end") { $0.connection == .finished }
        #expect(status.quality == .ok)
        #expect(status.rejected[.outOfOrder] == 2)
        try await rig.shutDown()
    }

    @Test func `standing within the distance filter is not starved and adds no durable commit`() async throws {
        let points = (0...90).map { second in
            "<trkpt lat=\"48\" lon=\"11\"><time>\(ISO8601.string(time(Double(second))))</time></trkpt>"
        }
        try scratch.write("<gpx>\(points.joined())</gpx>", to: "parked.gpx")
        let rig = try await LocationRig(
            source("200", name: "parked.gpx"),
            settings: LocationSettings(distanceFilter: 10)
        )
        let status = try await rig.wait(for: "end") { $0.connection == .finished }
        #expect(status.quality == .ok)
        #expect(status.accepted == 1)
        #expect(status.rejected[.distance] == 90)
        #expect(await rig.journal.durableCommits == 1)
        try await rig.shutDown()
    }
}
