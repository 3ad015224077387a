import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// `backgrounder track replay` on the sample tracks.
@Suite(.sharing) struct ReplayTests {
    @Test(arguments: ["freeway-drive", "city-walk", "tunnel-gap", "bad-fixes"])
    func `replay accepts and rejects the same points as the expected file and the reference`(name: String) async throws
    {
        let file = Products.repository("tracks/\(name).gpx")
        let content = try Data(contentsOf: URL(fileURLWithPath: Products.repository("tracks/\(name).expected.json")))
        let expected = try JSON.decode(ExpectedRuns.self, from: content)
        try #require(!expected.runs.isEmpty)
        for run in expected.runs {
            let options = run.settings.options
            let accepted: [IndexedLocation] = try await replay(file, options)
            #expect(accepted.map(\.index) == run.accepted, "\(options)")
            #expect(
                accepted.filter { $0.location.segmentStart == true }.map(\.index) == run.segmentStarts,
                "\(options)"
            )
            let rejected: [Reference.Rejected] = try await replay(file, options + ["--rejected"])
            #expect(rejected == run.rejected, "\(options)")
            #expect(accepted.count + rejected.count == run.received, "\(options)")

            let reference = try await Reference.run("gpx", file, options)
            #expect(reference.received == run.received, "\(options)")
            #expect(reference.rejected == rejected, "\(options)")
            expectSame(accepted.map(\.location), reference.accepted.map(\.location))
        }
    }

    private func replay<Value: Decodable>(_ file: String, _ options: [String]) async throws -> Value {
        let arguments = ["track", "replay", file, "--format", "json"] + options
        let run = try await ProgramRun.of(Products.backgrounder, arguments)
        try #require(run.exitCode == 0, "\(run)")
        return try JSON.decode(Value.self, from: run.output)
    }
}

/// `tracks/….expected.json`: the points accepted under given settings, and the reason for each rejection.
private struct ExpectedRuns: Decodable {
    struct Settings: Decodable {
        var desiredAccuracy: String
        var distanceFilter: Double
        var maximumAccuracy: Double?
        var jitterGuard: Bool

        /// The options of the command and of the reference, which are the same.
        var options: [String] {
            ["--accuracy", desiredAccuracy, "--filter", "\(distanceFilter)"]
                + (maximumAccuracy.map { ["--maximum", "\($0)"] } ?? [])
                + (jitterGuard ? [] : ["--no-jitter-guard"])
        }
    }

    struct Run: Decodable {
        var settings: Settings
        var received: Int
        var accepted: [Int]
        var segmentStarts: [Int]
        var rejected: [Reference.Rejected]
    }

    var runs: [Run]
}
