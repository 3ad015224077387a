import BackgrounderAPI
import FoundationEssentials
import Testing

@testable import BackgrounderCommands

@Suite struct SummariesTests {
    private static let instant = Date(timeIntervalSince1970: 1_763_708_149)

    private static func status(quality: FixQuality?, detail: String?) -> LocationStatus {
        var rejected = RejectionCounts()
        rejected[.accuracy] = 41
        rejected[.noFix] = 2
        return LocationStatus(
            updating: true,
            source: "gpsd://localhost:2947",
            connection: .connected,
            quality: quality,
            qualityDetail: detail,
            desiredAccuracy: .best,
            target: 10,
            acceptLimit: 30,
            distanceFilter: 0,
            jitterGuard: true,
            received: 50,
            accepted: 7,
            rejected: rejected,
            lastRejection: Rejection(reason: .accuracy, value: 48.34, limit: 30, timestamp: instant),
            trackCount: 7
        )
    }

    @Test func `the location table explains in a few lines why fixes are rejected`() {
        let detail = "41 fixes in the last 60 s, accuracy 48 m, limit 30 m; try `location accuracy hundredMeters`"
        #expect(
            Self.status(quality: .starved, detail: detail).lines() == [
                "connected, gpsd://localhost:2947", "starved: \(detail)",
                "best (asks for 10 m, accepts up to 30 m), no distance filter",
                "50 received, 7 accepted, rejected: noFix 2, accuracy 41",
                "last rejected: accuracy 48.34 m, limit 30 m at 2025-11-21T06:55:49.000Z",
            ]
        )
    }

    private static func status(fix age: Double, quality: FixQuality?, source: String = "gpsd://a:1") -> LocationStatus {
        var status = status(quality: quality, detail: nil)
        status.source = source
        status.lastRejection = nil
        status.lastFix = Location(latitude: 48, longitude: 11, timestamp: instant.addingTimeInterval(-age))
        return status
    }

    @Test(arguments: [FixQuality.searching, .silent, .noDevice, .disconnected, .starved, nil])
    func `a fix without a successor for more than a minute is marked as stale, with its age`(quality: FixQuality?) {
        let stale = Self.status(fix: 14 * 60, quality: quality).lines(.utc, now: Self.instant).last
        #expect(stale == "last fix 14 min ago, stale: 48.00000, 11.00000 at 2025-11-21T06:41:49.000Z")
        let fresh = Self.status(fix: 60, quality: quality).lines(.utc, now: Self.instant).last
        #expect(fresh == "last fix 48.00000, 11.00000 at 2025-11-21T06:54:49.000Z")
    }

    @Test func `an old fix is not stale while the filter holds points back, or if it comes from a file`() {
        let standing = Self.status(fix: 14 * 60, quality: .ok)
        let replayed = Self.status(fix: 1e8, quality: .searching, source: "gpx:/srv/a.gpx")
        for status in [standing, replayed] {
            #expect(status.lines(.utc, now: Self.instant).last?.contains("stale") == false)
        }
    }

    @Test func `the status has the publishers, and why their points wait`() {
        var status = ServiceStatus(
            version: "1",
            pid: 7,
            state: .background,
            since: Self.instant,
            attached: 0,
            modes: []
        )
        func publisher(
            _ name: String,
            _ state: PublisherState,
            _ backlog: Int,
            _ rate: Double?,
            _ why: String?
        ) -> PublisherStatus {
            PublisherStatus(
                name: name,
                url: "u",
                machine: "m",
                topic: "t",
                state: state,
                why: why,
                backlog: backlog,
                rate: rate
            )
        }
        status.publishers = [
            publisher("office", .connected, 0, 0.9, nil), publisher("home", .waiting, 7, nil, "no route"),
            publisher("depot", .connected, 900, 48.3, nil),
        ]
        #expect(
            status.backgroundLines(now: Self.instant) == [
                "publish   office: connected, backlog 0, 0.9 points/s",
                "          home: waiting, backlog 7: no route",
                "          depot: connected, backlog 900, 48 points/s",
            ]
        )
        #expect(
            publisher("depot", .connected, 900, 48.3, nil).line == "depot: connected, backlog 900, 48 points/s, u as m"
        )
    }

    @Test func `the status has the uptime`() {
        var status = ServiceStatus(
            version: "1",
            pid: 7,
            uptime: 3 * 3600 + 5,
            state: .background,
            since: Self.instant,
            attached: 0,
            modes: []
        )
        let first = "Backgrounder 1, pid 7, up 3 h: background since 2025-11-21T06:55:49.000Z, 0 attached"
        #expect(status.summary(.utc, now: Self.instant).hasPrefix(first + "\n"))
        status.uptime = nil
        #expect(status.summary(.utc, now: Self.instant).hasPrefix("Backgrounder 1, pid 7: background"))
    }

    @Test func `the location table says why the mode is off`() {
        var status = Self.status(quality: nil, detail: nil)
        status.connection = .off
        status.offReason = "no location.usageDescription in config.yaml"
        #expect(
            status.lines().prefix(2) == [
                "off, gpsd://localhost:2947", "off: no location.usageDescription in config.yaml",
            ]
        )
    }

    @Test(arguments: [FixQuality.ok, nil])
    func `a quality without details follows the source`(quality: FixQuality?) {
        let first = Self.status(quality: quality, detail: nil).lines()[0]
        #expect(first == "connected, gpsd://localhost:2947" + (quality == nil ? "" : ", ok"))
    }

    @Test(
        arguments: [
            (Rejection(reason: .outOfOrder, value: 3, limit: 0), "outOfOrder 3.0 s, limit 0.0 s"),
            (Rejection(reason: .implausible, value: 400, limit: 120), "implausible 400.0 m/s, limit 120.0 m/s"),
            (Rejection(reason: .distance, value: 1.5, limit: 10), "distance 1.5 m, limit 10 m"),
            (Rejection(reason: .invalid), "invalid"),
        ]
    )
    func `a rejection is shown in the unit of its reason`(rejection: Rejection, text: String) {
        var status = Self.status(quality: .ok, detail: nil)
        status.lastRejection = rejection
        #expect(status.lines().last == "last rejected: \(text)")
    }
}
