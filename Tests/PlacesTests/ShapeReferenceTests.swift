import Foundation
import PlacesSimulation
import TestSupport
import Testing

/// Distances, crossings, areas and validity compared with shapely and pyproj (Tests/Reference/places.py).
@Suite struct ShapeReferenceTests {
    @Test(arguments: [11] as [UInt64])
    func `shapes are those that shapely finds in random cases`(seed: UInt64) async throws {
        let reference = ShapeReference(count: 400, seed: seed)
        let scratch = try ScratchDirectory()
        let file = try scratch.write(try JSONEncoder().encode(reference.task), to: "cases.json")
        let script = URL(fileURLWithPath: "\(#filePath)/../../Reference/places.py").standardizedFileURL.path
        let run = try await ProgramRun.of("/usr/bin/python3", [script, file], within: 120)
        try #require(run.exitCode == 0, "\(run)")
        let result = reference.compare(try JSONDecoder().decode(ShapeReference.Answers.self, from: run.output))
        #expect(result.distances == 4_000)
        #expect(result.nearError < 0.2)
        #expect(result.farError < 1e-4)
        #expect(result.wrongSides == 0)
        #expect(result.crossings > 100)
        #expect(result.wrongCrossings == 0)
        #expect(result.radiusError < 0.001)
        #expect(result.invalidRings > 100)
        #expect(result.wrongRings == 0)
        #expect(result.refused == 0)
        #expect(result.wrongBounds == 0)
        #expect(result.examples == [])
    }
}
