import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import Places

/// Reads the memory of its process, so it runs apart.
@Suite(.serialized) struct ImportMemoryTests {
    private let rig: ImportRig

    init() throws { rig = try ImportRig() }

    @Test func `10 million vertices are refused without filling memory`() throws {
        let path = rig.scratch.file("many.geojson")
        let file = try #require(fopen(path, "w"))
        fputs(
            #"{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"LineString","coordinates":["#,
            file
        )
        for _ in 0..<10_000 { fputs(String(repeating: "[1,2],", count: 1000), file) }
        fputs(#"[1,2]]},"properties":{"name":"A"}}]}"#, file)
        fclose(file)
        let before = try Self.peakMemory()
        let message = rig.message(path) { path throws(PlaceFileFault) in _ = try PlaceFile.read(path) }
        #expect(message == "many.geojson:1: feature 1: more than 1000000 positions; split the file")
        #expect(try Self.peakMemory() - before < 60 << 20)
    }

    /// The most memory that the process has used so far, in bytes.
    static func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) << 10
    }
}
