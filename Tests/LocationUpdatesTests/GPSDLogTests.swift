import BackgrounderAPI
import Foundation
import LocationUpdates
import SystemSupport
import TestSupport
import Testing

@Suite struct GPSDLogTests {
    let scratch: ScratchDirectory
    static let version = #"{"class":"VERSION","release":"3.22","proto_major":3,"proto_minor":14}"#

    init() throws {
        scratch = try ScratchDirectory()
    }

    /// Reads all reports and the odd lines of a log with this content.
    func read(_ content: some Sequence<UInt8>) throws -> (reports: [LoggedReport], odd: OddLines?) {
        let reader = try GPSDLogReader(path: try scratch.write(content, to: "log.jsonl"))
        var reports: [LoggedReport] = []
        while let more = try reader.next() { reports += more }
        return (reports, reader.oddLines)
    }

    func read(_ lines: [String], end: String = "\n") throws -> (reports: [LoggedReport], odd: OddLines?) {
        try read(lines.map { $0 + end }.joined().utf8)
    }

    /// A drive of two receivers with SKY reports, noise, silence, damaged lines and occasional new connections.
    static func drive(seed: UInt64, count: Int, gaps: Bool = true) -> [String] {
        var random = SeededGenerator(seed: seed)
        var lines = [version]
        var second = 0
        var metres = 0.0
        for number in 0..<count {
            second += gaps && Int.random(in: 0..<40, using: &random) == 0 ? Int.random(in: 9...90, using: &random) : 1
            metres += .random(in: 0...15, using: &random)
            let device = gaps && number / 150 % 3 == 2 ? "/dev/gps1" : "/dev/gps0"
            let hdop = Double(Int.random(in: 50...300, using: &random)) / 100
            lines.append(#"{"class":"SKY","device":"\#(device)","hdop":\#(hdop)}"#)
            let eph = [19 * hdop * 1.003, 7.77, 33.3].randomElement(using: &random)
            let isLost = Int.random(in: 0..<15, using: &random) == 0
            lines.append(tpv(at: second, metres: metres, device: device, eph: eph, mode: isLost ? 1 : 3))
            if Int.random(in: 0..<60, using: &random) == 0 {
                lines.append(["", "{", "$GPGGA,1*00", #"{"class":"TPV","mode":3"#].randomElement(using: &random) ?? "")
            }
            if gaps, Int.random(in: 0..<100, using: &random) == 0 { lines.append(version) }
        }
        return lines
    }

    @Test func `fixes are indexed, SKY and error estimates apply to them, and a VERSION is a reconnect`() throws {
        let (reports, odd) = try read(
            [
                Self.version, #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/gps0"}]}"#,
                #"{"class":"WATCH","enable":true}"#, #"{"class":"SKY","device":"/dev/gps0","hdop":1.5}"#, tpv(at: 0),
                #"{"class":"PPS","device":"/dev/gps0"}"#, Self.version, tpv(at: 1, mode: 1), "",
            ],
            end: "\r\n"
        )
        #expect(odd == nil)
        #expect(reports.map(\.index) == [nil, nil, 0, nil, 1])
        #expect(reports[0].report == .reconnected)
        #expect(reports[3].report == .reconnected)
        #expect(reports[1].report == .sky(hdop: 1.5, device: "/dev/gps0"))
        guard case .fix(let fix) = reports[2].report else { Issue.record("\(reports[2])"); return }
        #expect(fix.isFromReceiver)
        #expect(fix.latitude == 48)
        #expect(fix.eph == 5)
        #expect(fix.arrival == 0)
    }

    @Test func `lines that gpsd does not write are counted with the first line number and lose no fix`() throws {
        let long = String(repeating: "x", count: 200_000)
        let bad = ["hello", "[]", "{\"class\":1}", long]
        for (content, line, count) in [
            ([tpv(at: 0), bad[0], tpv(at: 1)], 2, 1), ([bad[1], bad[2], tpv(at: 0), tpv(at: 1)], 1, 2),
            ([tpv(at: 0), bad[3], bad[0], tpv(at: 1)], 2, 2), ([tpv(at: 0), tpv(at: 1), bad[3], bad[3]], 3, 2),
            ([tpv(at: 0), bad[3], tpv(at: 1), bad[0]], 2, 2),
        ] {
            let (reports, odd) = try read(content)
            #expect(odd?.line == line)
            #expect(odd?.count == count)
            #expect(reports.map(\.index) == [0, 1])
        }
        // Far into the file, and after an over-long line that ends where a block ends.
        let many = (0..<2000).map { tpv(at: $0) }
        for padding in 190_000..<190_003 {
            let content = many + [String(repeating: "y", count: padding)] + many + ["odd"]
            let odd = try read(content).odd
            #expect(odd?.line == 2001)
            #expect(odd?.count == 2)
        }
    }

    @Test func `a complete last line without a line end is read, and a cut one is an odd line`() throws {
        let line = tpv(at: 1)
        #expect(try read("\(tpv(at: 0))\n\(line)".utf8).reports.map(\.index) == [0, 1])
        let (reports, odd) = try read("\(tpv(at: 0))\n\(line.dropLast(20))".utf8)
        #expect(reports.map(\.index) == [0])
        #expect(odd?.line == 2)
        #expect(odd?.count == 1)
        #expect(try read("".utf8).reports.isEmpty)
    }

    @Test func `another receiver takes over after 10 s of silence in recorded time, and not before`() throws {
        for (silence, isTaken) in [(9, false), (10, true), (100_000_000, true)] {
            var filter = LocationFilter()
            let lines = [tpv(at: 0), tpv(at: 5), tpv(at: 5 + silence, metres: 20, device: "/dev/gps1")]
            let decisions = try read(lines).reports.compactMap { filter.receive($0.report) }
            guard case .accepted = decisions.last else {
                guard case .rejected(let rejection) = decisions.last else {
                    Issue.record("no decision")
                    continue
                }
                #expect(!isTaken)
                #expect(rejection.reason == .device)
                continue
            }
            #expect(isTaken)
        }
    }

    @Test func `two receivers with different clocks do not make time run faster`() throws {
        let lines = (0..<30).flatMap { [tpv(at: $0), tpv(at: $0 + 7, device: "/dev/gps1")] }
        let instants = try read(lines).reports.map(\.instant)
        #expect(instants == instants.sorted())
        #expect((29...36).contains(instants.last ?? 0))
    }

    @Test func `a log gives exactly the points and counts of the live source`() async throws {
        let lines = Self.drive(seed: 5, count: 600, gaps: false)
        let settings = LocationSettings(distanceFilter: 20)
        let fake = try FakeGPSD()
        let live = try await LocationRig("gpsd://127.0.0.1:\(fake.port)", settings: settings)
        let client = try await fake.client()
        for line in lines { client.send(line: line) }
        let fixes = lines.count { $0.hasPrefix("{\"class\":\"TPV\"") }
        let expected = try await live.wait(for: "\(fixes) fixes") { $0.received == fixes }
        try await live.shutDown()

        let path = try scratch.write(lines.map { $0 + "\n" }.joined(), to: "log.jsonl")
        let replay = try await LocationRig("gpsd-log:\(path)?rate=max", settings: settings)
        let status = try await replay.wait(for: "end of the log") { $0.connection == .finished }
        #expect(status.rejected == expected.rejected)
        #expect(status.accepted > 100)
        #expect(await replay.journal.points == live.journal.points)
        #expect(replay.log.lines.count { $0.contains("which are not gpsd's") } == 1)
        try await replay.shutDown()
    }

    @Test func `a finished replay starts over and delivers the same points again`() async throws {
        let path = try scratch.write(Self.drive(seed: 6, count: 500).map { $0 + "\n" }.joined(), to: "log.jsonl")
        var journal = MemoryJournal()
        for run in 1...2 {
            let rig = try await LocationRig(
                "gpsd-log:\(path)?rate=max",
                settings: LocationSettings(distanceFilter: 20),
                journal: journal
            )
            let status = try await rig.wait(for: "end of the log") { $0.connection == .finished }
            #expect(status.rejected[.device] > 0)
            try await rig.shutDown()
            let points = await journal.points
            #expect(points.count > 100)
            #expect(points.prefix(points.count / run) == points.suffix(points.count / run))
            journal = await journal.copy()
        }
    }

    @Test func `a replay at a rate takes at least the recorded time divided by the rate`() async throws {
        let path = try scratch.write(
            (0..<20).map { tpv(at: $0, metres: Double(20 * $0)) + "\n" }.joined(),
            to: "log.jsonl"
        )
        let began = ContinuousClock.now
        let rig = try await LocationRig("gpsd-log:\(path)?rate=20")
        try await rig.wait(for: "end of the log") { $0.connection == .finished && $0.accepted == 20 }
        #expect(ContinuousClock.now - began >= .milliseconds(940))
        try await rig.shutDown()
    }

    @Test func `a missing log, a folder and an empty log end the replay with the reason`() async throws {
        let empty = try scratch.write("", to: "empty.jsonl")
        for (path, word) in [
            (scratch.file("none"), "No such file"), (scratch.path, "not a regular file"), (empty, "no fix (TPV)"),
        ] {
            let rig = try await LocationRig("gpsd-log:\(path)")
            try await rig.wait(for: "end") {
                $0.connection == .finished && $0.qualityDetail?.contains(word) == true
            }
            try await rig.shutDown()
        }
    }
}
