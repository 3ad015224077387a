import Foundation
import TestSupport
import Testing

/// The short form of `make fuzz`: damage from a fixed seed, without the sanitizer.
@Suite(.serialized) struct FuzzTests {
    private static let rounds = 12

    @Test(.computing, arguments: FuzzTarget.allCases)
    func `each reader handles damaged input without a crash, a hang or a wrong result`(target: FuzzTarget) async throws
    {
        let scratch = try ScratchDirectory()
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/make_seeds.sh"
        try await Tool.run("sh", script, target.rawValue, scratch.path)
        let seeds = try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
        try #require(!seeds.isEmpty)
        var mutator = Mutator(seed: 1)
        for seed in seeds {
            let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.file(seed))))
            target.run(whole)
            for round in 0..<Self.rounds {
                let began = secondsComputed()
                target.run(mutator.mutate(whole))
                #expect(secondsComputed() - began < 3, "\(seed), round \(round): \(mutator.deed)")
            }
        }
    }
}
