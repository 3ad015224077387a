import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// `fetch plan --opens`: the planner as a pure function, without a service.
@Suite(.sharing) struct FetchPlanTests {
    let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private struct Entry: Decodable {
        var at: Date
        var why: String
    }

    private func plan(_ arguments: String..., zone: String = "UTC") async throws -> ProgramRun {
        var environment = ProcessInfo.processInfo.environment
        environment["TZ"] = zone
        return try await ProgramRun.of(Products.backgrounder, ["fetch", "plan"] + arguments, environment: environment)
    }

    /// Writes opens at 8:30 in Berlin for three weeks, across the change to summer time on 2026-03-29.
    private func opens() throws -> String {
        let lines = (0..<21).map { day in
            let hour = day < 14 ? "07:30" : "06:30"
            let date = ISO8601.date("2026-03-15T\(hour):00Z")!.addingTimeInterval(Double(day) * 86_400)
            return #"{"at": "\#(ISO8601.string(date))"}"#
        }
        return try scratch.write(lines.joined(separator: "\n"), to: "opens.jsonl")
    }

    @Test func `runs end just before the user looks, in local time, also after a clock change`() async throws {
        let run = try await plan(
            "--opens",
            try opens(),
            "--at",
            "2026-04-04T22:00:00Z",
            "--runs",
            "8",
            "--last",
            "2026-04-04T20:00:00Z",
            "--format",
            "json",
            zone: "Europe/Berlin"
        )
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.errors.isEmpty, "\(run)")
        let entries = try JSON.decode([Entry].self, from: run.output)
        #expect(entries.count == 8)
        #expect(entries.map(\.at) == entries.map(\.at).sorted())
        let look = ISO8601.date("2026-04-05T06:30:00Z")!
        #expect(entries.contains { (0...600).contains(look.timeIntervalSince($0.at)) }, "\(run)")
        #expect(entries.contains { $0.why.contains("around 08:30") }, "\(run)")
    }

    @Test func `without opens the runs are evenly spaced`() async throws {
        let empty = try scratch.write("", to: "empty.jsonl")
        let json = try await plan("--opens", empty, "--at", "2026-04-05T00:00:00Z", "--runs", "4", "--format", "json")
        let times = try JSON.decode([Entry].self, from: json.output).map { ISO8601.string($0.at) }
        #expect(times == [0, 6, 12, 18].map { "2026-04-05T\($0 < 10 ? "0" : "")\($0):00:00.000Z" })
        let table = try await plan("--opens", empty, "--at", "2026-04-05T00:00:00Z", "--runs", "4")
        #expect(table.text.split(separator: "\n").count == 5)
        #expect(table.text.contains("evenly spaced"))
    }

    @Test func `a bad line is reported with its number, and bad arguments exit with 64`() async throws {
        for (text, words) in [
            ("{\"at\": \"2026-04-01T08:00:00Z\"}\n\n{\"at\": \"tomorrow\"}\n", ":3: "), ("nonsense", ":1: "),
            ("{\"at\": 5}", ":1: "), (String(repeating: "x", count: 300_000), ":1: "), ("\u{1B}[2J", ":1: "),
        ] {
            let file = try scratch.write(text, to: "bad.jsonl")
            let run = try await plan("--opens", file, "--at", "2026-04-05T00:00:00Z", "--runs", "8")
            #expect(run.exitCode == 1, "\(run)")
            #expect(run.text.isEmpty, "\(run)")
            #expect(run.errors.contains("bad.jsonl\(words)"), "\(run)")
            #expect(run.errors.split(separator: "\n").count == 1, "\(run)")
            #expect(!run.errors.contains("\u{1B}"), "\(run)")
        }
        let absent = try await plan("--opens", scratch.path + "/absent", "--at", "2026-04-05T00:00:00Z")
        absent.expectRefusal(4, ["backgrounder: ", "/absent: No such file", "for each open"])
        let file = try opens()
        for arguments in [
            ["--opens", file, "--runs", "0"], ["--opens", file, "--runs", "289"], ["--opens", file, "--at", "nix"],
            ["--opens", file, "--at", "2026-04-05T00:00:00Z", "--last", "2026-04-05T01:00:00Z"], ["--runs", "8"],
        ] {
            let run = try await ProgramRun.of(Products.backgrounder, ["fetch", "plan"] + arguments)
            #expect(run.exitCode == 64, "\(run)")
            #expect(run.errors.split(separator: "\n").count == 1, "\(run)")
        }
    }
}
