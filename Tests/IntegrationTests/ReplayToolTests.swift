import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// `track replay` as a test tool: it explains every point and compares the result with an expectation.
@Suite(.sharing) struct ReplayToolTests {
    let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func replay(_ arguments: String...) async throws -> ProgramRun {
        try await ProgramRun.of(Products.backgrounder, ["track", "replay"] + arguments)
    }

    @Test(arguments: ["freeway-drive", "city-walk", "tunnel-gap", "bad-fixes"])
    func `the sample tracks match their expected files, with one line a run and exit code 0`(name: String) async throws
    {
        let track = Products.repository("tracks/\(name)")
        let run = try await replay("\(track).gpx", "--expect", "\(track).expected.json")
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.errors.isEmpty, "\(run)")
        let lines = run.text.split(separator: "\n")
        #expect(lines.count == 5, "\(run)")
        #expect(lines.allSatisfy { $0.contains(": identical, ") }, "\(run)")
    }

    @Test func `replay --expect accepts the output of --format expected and lists differences by index`() async throws {
        let track = Products.repository("tracks/bad-fixes.gpx")
        let written = try await replay(track, "--filter", "10", "--maximum", "25", "--format", "expected")
        #expect(written.exitCode == 0)
        let good = try scratch.write(written.output, to: "good.json")
        let same = try await replay("gpx:\(track)", "--expect", good)
        #expect(same.exitCode == 0)
        #expect(same.text.contains("--accuracy best --filter 10 --maximum 25: identical"))

        let text = written.text
        for (what, replacement, words) in [
            (
                #""index":54,"reason":"distance""#, #""index":54,"reason":"jitter""#,
                ["index 54: expected jitter, got distance 4.00 m, limit 10.00 m"]
            ),
            ("\"accepted\":[0,1,", "\"accepted\":[0,1,2,", ["index 2: expected accepted, got noFix"]),
            (
                "\"segmentStarts\":[0,", "\"segmentStarts\":[",
                [
                    "index 0: expected accepted, got accepted, new segment (first)"
                ]
            ),
            ("\"received\":72", "\"received\":73", ["expected 73 fixes, got 72"]),
        ] {
            try #require(text.contains(what), "\(text)")
            var changed = text.replacing(what, with: replacement)
            if replacement.contains("0,1,2") {
                changed = changed.replacing(#"{"index":2,"reason":"noFix"},"#, with: "")
            }
            if replacement.contains("73") {
                changed = changed.replacing("]}\n]}", with: #",{"index":72,"reason":"noFix"}]}\#n]}"#)
            }
            let run = try await replay(track, "--expect", try scratch.write(changed, to: "bad.json"))
            #expect(run.exitCode == 1, "\(run)")
            for word in words { #expect(run.text.contains("  \(word)\n"), "\(run)") }
            run.expectOneLine(["1 of 1 runs differ", "--explain"])
        }

        // Another track differs in more than the twenty lines that are printed.
        let other = try await replay(Products.repository("tracks/tunnel-gap.gpx"), "--expect", good)
        #expect(other.exitCode == 1)
        #expect(other.text.split(separator: "\n").count == 22)
        #expect(other.text.contains("  and "))
        #expect(other.text.contains(" more\n"))
    }

    @Test(arguments: [
        ("", "not valid JSON"), ("{\"track\":\"a\"}", "has no runs"),
        (#"{"track":"a","runs":[]}"#, "runs is empty"),
        (#"{"track":"a","runs":[{"settings":5}]}"#, "runs[0].settings has the wrong type"),
        (
            #"{"track":"a","runs":[{"settings":{"desiredAccuracy":"superb","distanceFilter":0,"jitterGuard":true},"#
                + #""received":0,"accepted":[],"rejected":[]}]}"#, "superb"
        ),
        (Self.document(filter: -1, received: 0), "runs[0].settings.distanceFilter is out of range"),
        (Self.document(received: 2, accepted: [0, 0]), "runs[0] names index 0 twice"),
        (Self.document(received: 2, accepted: [0, 2]), "runs[0] names index 2 of 2 received"),
        (Self.document(received: 2, accepted: [0]), "runs[0] names 1 indices, but received is 2"),
        (
            Self.document(received: 1, accepted: [0]).replacing("rejected", with: #"segmentStarts":[3],"rejected"#),
            "runs[0] has the segment start 3"
        ),
    ]
    )
    func `an invalid expectation file is refused with the fault and its place`(content: String, words: String)
        async throws
    {
        let file = try scratch.write(content, to: "x.json")
        let run = try await replay(Samples.walk, "--expect", file)
        run.expectRefusal(1, [file, words, "--format expected"])
    }

    private static func document(filter: Int = 0, received: Int, accepted: [Int] = []) -> String {
        #"{"track":"a","runs":[{"settings":{"desiredAccuracy":"best","distanceFilter":\#(filter),"jitterGuard":true},"#
            + #""received":\#(received),"accepted":\#(accepted),"rejected":[]}]}"#
    }

    @Test(arguments: ["bad-fixes", "city-walk", "tunnel-gap"])
    func `every fix is explained by the numbers that decided it`(name: String) async throws {
        let track = Products.repository("tracks/\(name).gpx")
        let run = try await replay(track, "--filter", "10", "--explain", "--format", "json")
        try #require(run.exitCode == 0, "\(run)")
        let rows = try JSON.decode([ExplainedRow].self, from: run.output)
        let accepted = try await replay(track, "--filter", "10", "--format", "json")
        let points = try JSON.decode([IndexedLocation].self, from: accepted.output)
        #expect(rows.map(\.index) == Array(rows.indices))
        #expect(rows.filter { $0.decision == "accepted" }.map(\.index) == points.map(\.index))
        for point in points {
            let row = rows[point.index]
            #expect(row.timestamp == point.location.timestamp)
            #expect(row.estimate == point.location.horizontalAccuracy)
            #expect(row.source == point.location.accuracySource)
            #expect((row.segment != nil) == (point.location.segmentStart == true))
            guard row.segment == nil else { continue }
            let (distance, bound) = (try #require(row.distance), try #require(row.bound))
            #expect(distance >= bound, "\(row)")
            #expect(bound >= 10, "\(row)")
        }
        for row in rows where row.decision != "accepted" {
            #expect(row.limit == 30)
            let exceedsBound = row.value ?? 0 > row.bound ?? .infinity
            let isWithinBound = row.value ?? .infinity <= row.bound ?? 0
            switch row.decision {
            case "accuracy":
                #expect(row.value == row.estimate, "\(row)")
                #expect(exceedsBound, "\(row)")
            case "distance", "jitter":
                #expect(row.value == row.distance, "\(row)")
                #expect(isWithinBound, "\(row)")
            case "implausible":
                #expect(exceedsBound, "\(row)")
                #expect(row.distance ?? 0 > 0, "\(row)")
            default: break
            }
        }
        let table = try await replay(track, "--filter", "10", "--explain")
        #expect(table.text.split(separator: "\n").count == rows.count + 1)
    }

    struct ExplainedRow: Decodable {
        var index: Int
        var timestamp: Date?
        var estimate: Double?
        var source: AccuracySource?
        var limit: Double?
        var distance: Double?
        var decision: String
        var value: Double?
        var bound: Double?
        var segment: String?
    }

    @Test(arguments: [
        WrongInput("track replay HOME/t --expect HOME/e --filter 5", 64, "--expect", "omit --filter"),
        WrongInput("track replay HOME/t --expect HOME/e --explain", 64, "omit --explain"),
        WrongInput("track replay HOME/t --expect HOME/missing.json", 4, "missing.json", "--format expected"),
        WrongInput("track replay HOME/t --rejected --explain", 64, "one of them"),
        WrongInput("track replay HOME/t --explain --format gpx", 64, "table or json"),
        WrongInput("track replay HOME/t --explain --format expected", 64, "table or json"),
        WrongInput("track replay HOME/t --record HOME/r", 64, "--record", "gpsd://"),
        WrongInput("track replay HOME/t --for 5s", 64, "--for"),
        WrongInput("track replay gpsd://localhost --for 0", 64, "0", "use one such as 90s"),
        WrongInput("track replay gpsd://localhost --rate 5", 64, "--rate"),
        WrongInput("track replay gpsd://localhost:0", 64, "port"),
        WrongInput("track replay gpsd://localhost --expect HOME/e", 64, "--expect", "record"),
        WrongInput("track replay gpsd://localhost --record HOME/config.yaml", 1, "config.yaml", "already exists"),
        WrongInput("track replay gpsd-log:HOME/missing.jsonl", 4, "missing.jsonl", "No such file"),
        WrongInput("track replay gpsd-log:HOME", 1, "not a regular file"),
        WrongInput(
            "track replay gpsd-log:HOME/config.yaml",
            1,
            "has no fix (TPV)",
            " not from gpsd)"
        ),
        WrongInput("track replay gpsd-log:HOME/x?rate=0", 64, "rate"),
        WrongInput("track replay gpx:HOME/missing.gpx", 4, "missing.gpx"),
        WrongInput(
            "start --source gpsd-log:HOME/missing.jsonl",
            1,
            "cannot read ",
            "missing.jsonl; check the path"
        ),
        WrongInput("start --source gpsd-log:HOME/x?rate=0", 64, "rate"),
        WrongInput("start --source gpx:\(Samples.walk) --record HOME/r", 64, "--record", "city-walk.gpx"),
        WrongInput("start --source gpsd://localhost:1 --record HOME/config.yaml", 1, "already exists"),
        WrongInput("start --source gpsd://localhost:1 --record /nowhere/r", 1, "/nowhere/r", "No such file"),
    ]
    )
    func `wrong uses of replay are refused in one line`(input: WrongInput) async throws {
        let service = try Service(TestConfiguration())
        try await input.check(service)
        #expect(service.pid == nil)
    }
}
