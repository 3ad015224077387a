import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// Faults of a scripted gpsd; ``GPSDReceiverTests`` has those that a real gpsd can be made to show.
@Suite struct GPSDFaultTests {
    private static let answers = [
        "{\"class\":\"SKY\",\"device\":\"/dev/gps0\",\"hdop\":1.25}", "{\"class\":\"SKY\",\"device\":\"/dev/gps0\"}",
        "{\"class\":\"GST\",\"device\":\"/dev/gps0\",\"time\":\"2023-11-14T22:13:22.000Z\",\"lat\":3.0,\"lon\":4.0}",
        "{\"class\":\"DEVICE\",\"path\":\"/dev/gps0\",\"activated\":\"2023-11-14T22:13:20.000Z\"}",
        "{\"class\":\"DEVICES\",\"devices\":[{\"class\":\"DEVICE\",\"path\":\"/dev/gps0\"}]}",
        "{\"class\":\"ERROR\",\"message\":\"Unrecognized request\"}", "{\"class\":\"ATT\",\"heading\":14.2}",
        "{\"class\":\"WATCH\",\"enable\":true}", "{\"class\":\"VERSION\",\"release\":\"3.22\"}", "garbage",
        "\u{0}\u{0}",
        "{\"class\":\"POLL\",\"time\":\"2023-11-14T22:13:22.000Z\",\"active\":1,\"tpv\":[\(tpv(at: 1))],\"sky\":[]}",
    ]

    @Test(arguments: answers)
    func `a message that is not a fix does not repeat the fix before it`(line: String) async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)")
        let client = try await server.client()
        client.send(line: tpv(at: 0))
        for _ in 0..<3 { client.send(line: line) }
        client.send(line: tpv(at: 5))
        let status = try await rig.wait(for: "the second fix") { $0.lastFix?.timestamp == time(5) }
        #expect(status.received == 2)
        #expect(status.accepted == 2)
        try await rig.shutDown()
    }

    @Test func `lines of 25 kB are read, and lines over 64 KiB are skipped and reported once`() async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)")
        let client = try await server.client()
        for second in 0..<6 {
            let length = second % 2 == 0 ? 25_000 : 70_000
            let space = String(repeating: " ", count: length)
            client.send(line: tpv(at: second).replacing(",\"mode\"", with: ",\(space)\"mode\""))
        }
        client.send(line: tpv(at: 10))
        try await rig.wait(for: "the last fix") { $0.lastFix?.timestamp == time(10) }
        #expect(await rig.journal.points.map(\.timestamp) == [0, 2, 4, 10].map { time($0) })
        #expect(rig.log.lines.count { $0.contains("more than 65536 bytes") } == 1)
        try await rig.shutDown()
    }

    @Test(
        arguments: [
            // A leap second equals the beginning of the next second.
            (
                ["2016-12-31T23:59:59Z", "2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z", "2017-01-01T00:00:01Z"],
                "a a d a"
            ),
            // A receiver repeats its first epochs.
            (
                ["2023-11-14T22:13:20Z", "2023-11-14T22:13:20Z", "2023-11-14T22:13:20Z", "2023-11-14T22:13:21Z"],
                "a d d a"
            ),
            // 1,024 weeks back and forward again.
            (
                [
                    "2023-11-14T22:13:20Z", "2004-03-30T22:13:21Z", "2004-03-30T22:13:22Z", "2004-03-30T22:13:23Z",
                    "2023-11-14T22:13:24Z",
                ], "a o o A A"
            ),
        ]
    )
    func `odd times are handled as the time rules say`(times: [String], expected: String) async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)")
        let client = try await server.client()
        var seen: [String] = []
        for (index, when) in times.enumerated() {
            client.send(line: tpv(at: 0).replacing("2023-11-14T22:13:20Z", with: when))
            let status = try await rig.wait(for: "fix \(index + 1)") { $0.received == index + 1 }
            if status.accepted > seen.count(where: { $0.lowercased() == "a" }) {
                seen.append(index > 0 && status.lastFix?.segmentStart == true ? "A" : "a")
            } else {
                seen.append(status.lastRejection.map { $0.reason.rawValue.prefix(1).lowercased() } ?? "?")
            }
        }
        #expect(seen.joined(separator: " ") == expected)
        try await rig.shutDown()
    }

    @Test(arguments: [-1024, 1024])
    func `a date that cannot be right is reported once, and the points are kept`(weeks: Int) async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)", now: time(Double(weeks) * -604_800))
        let client = try await server.client()
        for second in 0..<3 { client.send(line: tpv(at: second)) }
        try await rig.wait(for: "three points") { $0.accepted == 3 }
        let words = "is 7168 days \(weeks < 0 ? "behind" : "ahead of") this machine's clock"
        #expect(rig.log.lines.count { $0.contains(words) && $0.hasPrefix("warning") } == 1, "\(rig.log.lines)")
        try await rig.shutDown()
    }

    @Test func `a receiver that is refused at first is tracked as soon as gpsd has it`() async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)/dev/gps0")
        let client = try await server.client()
        client.send(line: "{\"class\":\"ERROR\",\"message\":\"No such device as /dev/gps0\"}")
        let refused = try await rig.wait(for: "refusal") { $0.quality == .noDevice }
        #expect(refused.qualityDetail == "gpsd reports: No such device as /dev/gps0")
        for _ in 0..<2 {
            let request = await client.nextRequest(beginning: "?WATCH")
            #expect(request == "?WATCH={\"enable\":true,\"json\":true,\"device\":\"/dev/gps0\"};")
            client.send(line: "{\"class\":\"ERROR\",\"message\":\"No such device as /dev/gps0\"}")
        }
        #expect(rig.log.lines.count == 1)
        client.send(line: "{\"class\":\"WATCH\",\"enable\":true,\"device\":\"/dev/gps0\"}")
        try await rig.wait(for: "receiver") { $0.quality == .searching }
        for second in 0..<3 { client.send(line: tpv(at: second)) }
        try await rig.wait(for: "fixes") { $0.quality == .ok && $0.accepted == 3 }
        try await rig.shutDown()
    }

    @Test(
        arguments: [true, false]
    )
    func `gpsd is asked for its receivers before a silence is reported`(hasReceiver: Bool) async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)/dev/gps0")
        let client = try await server.client()
        for second in 0..<3 { client.send(line: tpv(at: second)) }
        try await rig.wait(for: "fixes") { $0.quality == .ok }
        #expect(await client.nextRequest() == "?DEVICES;")
        let path = hasReceiver ? "/dev/gps0" : "/dev/gps1"
        client.send(line: "{\"class\":\"DEVICES\",\"devices\":[{\"class\":\"DEVICE\",\"path\":\"\(path)\"}]}")
        let status = try await rig.wait(for: "another quality") { $0.quality != .ok }
        #expect(status.quality == (hasReceiver ? .silent : .noDevice))
        #expect(status.qualityDetail == (hasReceiver ? "no report for 5 s" : "gpsd has no receiver /dev/gps0"))
        #expect(rig.log.lines.count == 2)
        try await rig.shutDown()
    }

    @Test func `a host that accepts a connection but never answers is reported within seconds`() async throws {
        let crowd = try CrowdedPort()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(crowd.port)")
        let status = try await rig.wait(for: "loss", within: 30) { $0.quality == .disconnected }
        #expect(status.connection == .waiting)
        #expect(status.qualityDetail == "no answer within 5 s")
        let began = ContinuousClock.now
        try await rig.shutDown()
        #expect(ContinuousClock.now - began < .seconds(4), "the shutdown does not wait for the network")
    }
}
