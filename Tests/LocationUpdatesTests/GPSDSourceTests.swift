import BackgrounderAPI
import Foundation
import LocationUpdates
import TestSupport
import Testing

@Suite struct GPSDSourceTests {
    @Test func `fixes from gpsd are tracked, and the device in the URL is requested`() async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)/dev/gps0")
        let client = try await server.client()
        #expect(client.request == "?WATCH={\"enable\":true,\"json\":true,\"device\":\"/dev/gps0\"};")
        try await rig.wait(for: "connection") { $0.connection == .connected && $0.quality == .searching }
        for second in 0..<4 { client.send(line: tpv(at: second, metres: Double(second))) }
        let status = try await rig.wait(for: "four points") { $0.accepted == 4 }
        #expect(status.quality == .ok)
        #expect(status.received == 4)
        #expect(status.trackCount == 4)
        let track = await rig.manager.track(last: 100)
        let stored = await rig.journal.points
        #expect(track == rig.locations)
        #expect(track == stored)
        #expect(track.map(\.timestamp) == (0..<4).map { time(Double($0)) })
        #expect(track.map(\.segmentStart) == [true, nil, nil, nil])
        #expect(track[0].altitude == 500)
        #expect(track[0].speed == 1)
        #expect(track[0].horizontalAccuracy == 5)
        try await rig.shutDown()
    }

    @Test(
        arguments: [
            (
                "{\"class\":\"TPV\",\"device\":\"/dev/gps0\",\"mode\":3,\"time\":\"2023-11-14T22:13:20Z\",\"lat\":48.0,\"lon\":11.",
                .invalid
            ),
            ("{\"class\":\"TPV\",\"mode\":3,\"time\":\"2023-11-14T22:13:20Z\",\"lat\":48.0,\"lon\":11.0", .invalid),
            (tpv(at: 0) + tpv(at: 1), .invalid),
            ("{\"class\":\"TPV\",\"mode\":3,\"time\":\"bogus\",\"lat\":48.0,\"lon\":11.0,\"eph\":5}", .invalid),
            (
                "{\"class\":\"TPV\",\"mode\":3,\"time\":\"99999999999-01-01T00:00:00Z\",\"lat\":48.0,\"lon\":11.0,\"eph\":5}",
                .invalid
            ),
            (
                "{\"class\":\"TPV\",\"mode\":3,\"time\":\"2101-01-01T00:00:00Z\",\"lat\":48.0,\"lon\":11.0,\"eph\":5}",
                .invalid
            ),
            (
                "{\"class\":\"TPV\",\"mode\":3,\"time\":\"1979-12-31T23:59:59Z\",\"lat\":48.0,\"lon\":11.0,\"eph\":5}",
                .invalid
            ),
            (
                "{\"class\":\"TPV\",\"mode\":3,\"time\":\"2023-11-14 22:13:20Z\",\"lat\":48.0,\"lon\":11.0,\"eph\":5}",
                .invalid
            ),
            (
                "{\"class\":\"TPV\",\"mode\":3,\"time\":\"2023-11-14T22:13:20\",\"lat\":48.0,\"lon\":11.0,\"eph\":5}",
                .invalid
            ),
            ("{\"class\":\"TPV\",\"mode\":3,\"time\":\"\",\"lat\":48.0,\"lon\":11.0,\"eph\":5}", .invalid),
            ("{\"class\":\"TPV\",\"mode\":3,\"lat\":48.0,\"lon\":11.0,\"eph\":5}", .invalid),
            (
                "{\"class\":\"TPV\",\"mode\":3,\"time\":\"2023-11-14T22:13:20Z\",\"lat\":1e400,\"lon\":11.0,\"eph\":5}",
                .invalid
            ),
            (
                "{\"class\":\"TPV\",\"mode\":3,\"time\":\"2023-11-14T22:13:20Z\",\"lat\":200.0,\"lon\":400.0,\"eph\":5}",
                .invalid
            ),
            ("{\"class\":\"TPV\",\"mode\":3,\"time\":\"2023-11-14T22:13:20Z\",\"eph\":5}", .invalid),
            (
                "{\"class\":\"TPV\",\"mode\":99,\"time\":\"2023-11-14T22:13:20Z\",\"lat\":48.0,\"lon\":11.0,\"eph\":5}",
                .invalid
            ),
            (
                "{\"class\":\"TPV\",\"mode\":3,\"odd\":{\"a\":1},\"time\":\"2023-11-14T22:13:20Z\",\"lat\":48.0,\"lon\":11.0}",
                .invalid
            ),
            (
                "{\"class\":\"TPV\",\"mode\":3,\"time\":\"2023-11-14T22:13:20Z\",\"lat\":48.0,\"lon\":11.0,\"eph\":-5}",
                .noAccuracy
            ),
            (
                "{\"class\":\"TPV\",\"mode\":3,\"time\":\"2023-11-14T22:13:20Z\",\"lat\":48.0,\"lon\":11.0,\u{0}\"eph\":5}",
                .invalid
            ),
            // gps_unpack would never return from these.
            ("{\"class\":\"TPV\",\"mode\":3,\"lat\":\"class\":\"TPV\"48.0,\"lon\":11.0}", .invalid),
            ("{\"class\":\"TPV\",\"device\":\"/dev/gps0\"\"class\":\"TPV\",\"mode\":3}", .invalid),
            ("{\"class\":\"GST\",\"lat\":\"class\":\"SKY\"2.2,\"lon\":2.7}", nil),
            ("{\"class\":\"TPV\"}", .noFix), ("{\"class\":\"TPV\",\"device\":\"/dev/gps0\",\"mode\":1}", .noFix),
            ("{ \"class\":\"TPV\",\"mode\":3}", nil), ("", nil), ("garbage", nil), ("{\"class\":\"TPV", nil),
            ("{\"class\":\"SKY\",\"hdop\":", nil),
            ("{\"class\":\"GST\",\"lat\":", nil), ("{\"class\":\"GST\"}", nil),
            ("{\"class\":\"SKY\",\"hdop\":-1}", nil), ("{\"class\":\"DEVICE\"}", nil),
            ("{\"class\":\"ERROR\",\"message\":\"x\"}", nil), ("\u{0}\u{0}\u{0}", nil),
            (String(repeating: "x", count: 200_000), nil),
            ("{\"class\":\"TPV\",\"x\":\"" + String(repeating: "x", count: 100_000) + "\"}", nil),
        ] as [(String, RejectionReason?)]
    )
    func `odd lines add no points and do not end the connection`(line: String, reason: RejectionReason?) async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)")
        let client = try await server.client()
        client.send(line: line)
        for second in 1..<4 { client.send(line: tpv(at: second)) }
        let status = try await rig.wait(for: "three points") { $0.accepted == 3 }
        #expect(status.received == (reason == nil ? 3 : 4))
        if let reason { #expect(status.rejected[reason] == 1) }
        #expect(!server.hasClient, "no second connection")
        try await rig.shutDown()
    }

    @Test func `no value of an earlier fix remains in a later one`() async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)")
        let client = try await server.client()
        client.send(line: tpv(at: 0))
        client.send(
            line:
                "{\"class\":\"TPV\",\"device\":\"/dev/gps0\",\"mode\":3,\"time\":\"2023-11-14T22:13:21Z\",\"lat\":48.0,\"lon\":11.0,\"epx\":3.0,\"epy\":4.0}"
        )
        let status = try await rig.wait(for: "two points") { $0.accepted == 2 }
        let last = try #require(status.lastFix)
        #expect(last.altitude == nil)
        #expect(last.speed == nil)
        #expect(last.accuracySource == .model)
        #expect(abs((last.horizontalAccuracy ?? 0) - 5 / 1.731) < 1e-9)
        try await rig.shutDown()
    }

    @Test func `SKY separates gpsd's model from a receiver's own error, and GST overrides both`() async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)")
        let client = try await server.client()
        client.send(line: tpv(at: 0, eph: 23.9))
        client.send(
            line: "{\"class\":\"SKY\",\"device\":\"/dev/gps0\",\"vdop\":9.0,\"hdop\":1.25,\"satellites\":[{\"PRN\":1}]}"
        )
        client.send(line: tpv(at: 1, eph: 23.9))
        client.send(
            line:
                "{\"class\":\"GST\",\"device\":\"/dev/gps0\",\"time\":\"2023-11-14T22:13:22.000Z\",\"rms\":1.0,\"lat\":3.0,\"lon\":4.0}"
        )
        client.send(line: tpv(at: 2, eph: 23.9))
        try await rig.wait(for: "three points") { $0.accepted == 3 }
        let track = await rig.manager.track(last: 3)
        #expect(track.map(\.accuracySource) == [.receiver, .model, .gst])
        #expect(track.map(\.horizontalAccuracy) == [23.9, 23.9 / 1.731, 5])
        try await rig.shutDown()
    }

    @Test func `lines are read whole no matter how their bytes are split`() async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)")
        let client = try await server.client()
        for second in 0..<5 {
            for byte in "\(tpv(at: second))\n".utf8 { client.send([byte]) }
        }
        let status = try await rig.wait(for: "five points") { $0.accepted == 5 }
        #expect(status.received == 5)
        try await rig.shutDown()
    }

    @Test func `a gpsd that leaves and returns is tracked again, with one log line for each event`() async throws {
        var server = try FakeGPSD()
        let port = server.port
        let rig = try await LocationRig("gpsd://127.0.0.1:\(port)")
        var client = try await server.client()
        for second in 0..<3 { client.send(line: tpv(at: second)) }
        try await rig.wait(for: "three points") { $0.quality == .ok }
        server.stopListening()
        client.hangUp()
        let lost = try await rig.wait(for: "loss") { $0.connection == .waiting }
        #expect(lost.quality == .disconnected)
        // The status may already have the detail of the next attempt.
        let losses = rig.log.lines.filter { $0.contains(" is disconnected") }
        #expect(losses.map { $0.hasSuffix(" is disconnected (gpsd closed the connection)") } == [true], "\(losses)")
        server = try FakeGPSD(port: port)
        client = try await server.client()
        try await rig.wait(for: "connection") { $0.connection == .connected && $0.quality == .searching }
        for second in 20..<23 { client.send(line: tpv(at: second)) }
        try await rig.wait(for: "six points") { $0.accepted == 6 && $0.quality == .ok }
        #expect(await rig.manager.track(last: 100).map(\.segmentStart) == [true, nil, nil, true, nil, nil])
        #expect(rig.log.lines.count == 4)
        try await rig.shutDown()
    }

    @Test func `the quality is noDevice until gpsd has a receiver`() async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)")
        let client = try await server.client()
        client.send(line: "{\"class\":\"DEVICES\",\"devices\":[]}")
        try await rig.wait(for: "no device") { $0.quality == .noDevice }
        client.send(line: "{\"class\":\"DEVICE\",\"path\":\"/dev/gps0\",\"activated\":\"2023-11-14T22:13:20.000Z\"}")
        try await rig.wait(for: "device") { $0.quality == .searching }
        try await rig.shutDown()
    }

    @Test func `a source is silent after 5 s without a report, until three good fixes`() async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)")
        let client = try await server.client()
        for second in 0..<3 { client.send(line: tpv(at: second)) }
        try await rig.wait(for: "three points") { $0.quality == .ok }
        let began = ContinuousClock.now
        try await rig.wait(for: "silence", within: 30) { $0.quality == .silent }
        #expect((3...25).contains((ContinuousClock.now - began) / .seconds(1)))
        client.send(line: tpv(at: 10))
        client.send(line: tpv(at: 11))
        #expect(try await rig.wait(for: "fixes") { $0.accepted == 5 }.quality == .silent)
        client.send(line: tpv(at: 12))
        try await rig.wait(for: "good quality") { $0.quality == .ok }
        try await rig.shutDown()
    }

    @Test func `a server that drops every connection is reported once as disconnected`() async throws {
        let server = try FakeGPSD()
        server.dropNewClients()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)")
        try await server.waitForDrops(4)
        let status = try await rig.wait(for: "loss") { $0.quality == .disconnected }
        #expect(status.connection == .waiting)
        #expect(rig.log.lines.count == 1)
        try await rig.shutDown()
    }

    @Test func `a refused connection is reported once with libgps' reason and does not delay the end`() async throws {
        let server = try FakeGPSD()
        let port = server.port
        server.stopListening()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(port)")
        let status = try await rig.wait(for: "loss") { $0.quality == .disconnected }
        #expect(status.connection == .waiting)
        #expect(status.qualityDetail == "can't connect to host/port pair")
        let began = ContinuousClock.now
        try await rig.shutDown()
        #expect(ContinuousClock.now - began < .seconds(5))
        #expect(await rig.manager.status().connection == .off)
        #expect(rig.log.lines.count == 1)
    }

    @Test func `a connection that is silent for 30 s is renewed once, and tracking continues`() async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)")
        let first = try await server.client()
        first.send(line: tpv(at: 0))
        let renewed = try await server.client()
        #expect(await rig.manager.status().quality == .silent)
        #expect(rig.log.lines.count == 1)
        renewed.send(line: "{\"class\":\"VERSION\",\"release\":\"3.22\"}")
        for epoch in 40..<43 { renewed.send(line: tpv(at: epoch)) }
        let status = try await rig.wait(for: "fixes") { $0.accepted == 4 && $0.quality == .ok }
        #expect(status.received == 4)
        #expect(await rig.manager.track(last: 4).map(\.segmentStart) == [true, true, nil, nil])
        try await rig.shutDown()
        first.hangUp()
    }

    @Test(arguments: [1, 2, 3])
    func `damaged lines affect neither the connection nor the counts`(seed: UInt64) async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)")
        let client = try await server.client()
        var random = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        for second in 0..<2000 {
            var line = Array(
                [
                    tpv(at: second), tpv(at: second, mode: 1),
                    "{\"class\":\"SKY\",\"device\":\"/dev/gps0\",\"hdop\":1.25}",
                    "{\"class\":\"GST\",\"device\":\"/dev/gps0\",\"time\":\"2023-11-14T22:13:22.000Z\",\"lat\":3.0,\"lon\":4.0}",
                    "{\"class\":\"DEVICES\",\"devices\":[{\"class\":\"DEVICE\",\"path\":\"/dev/gps0\"}]}",
                ].randomElement(using: &random)?.utf8 ?? "".utf8
            )
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let index = Int.random(in: 0..<line.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: line[index] = .random(in: 0...255, using: &random)
                case 1: line.removeSubrange(index..<min(line.count, index + 5))
                case 2: line.insert(contentsOf: line[index...].prefix(20), at: index)
                default: line[index] = "{}[]\",:0-e".utf8.randomElement(using: &random) ?? 0
                }
                if line.isEmpty { line = [0x7B] }
            }
            bytes += line + [0x0A]
        }
        client.send(bytes)
        for second in 5000..<5010 { client.send(line: tpv(at: second)) }
        let status = try await rig.wait(for: "good fixes") { $0.lastFix?.timestamp == time(5009) }
        #expect(status.received == status.accepted + status.rejected.total)
        #expect(status.received > 500)
        #expect(status.rejected[.invalid] > 50)
        #expect(!server.hasClient, "no second connection")
        try await rig.shutDown()
    }
}
