import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import Speech

/// The real espeak-ng.
@Suite struct EspeakTests {
    private func cache(_ rig: SpeechRig, voice: String? = "en", sizeLimit: Int = 20_000_000) -> SpeechCache {
        rig.cache(SpeechRenderer(voice: voice, timeLimit: .seconds(60), sizeLimit: sizeLimit), limit: 50_000_000)
    }

    /// Returns a figure of sox's `stat`.
    private func stat(_ name: String, of path: String) async throws -> Double {
        let report = try await ProgramRun.of("/usr/bin/sox", [path, "-n", "stat"])
        let line = report.errors.split(separator: "\n").first { $0.hasPrefix(name) }
        return try #require(line?.split(separator: " ").last.flatMap { Double($0) }, "\(report)")
    }

    @Test func `a text becomes a WAV file with sound`() async throws {
        let rig = try await SpeechRig()
        let path = try await cache(rig).file(for: "Next stop: Church Street", before: .far)
        let length = try await stat("Length", of: path)
        #expect(length > 0.8)
        #expect(length < 6)
        #expect(try await stat("RMS     amplitude", of: path) > 0.02)
        let size = try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        #expect(abs(Double(size - 44) / 2 / 22050 - length) < 0.001)
    }

    @Test(arguments: [
        "\"quotes\" and 'quotes'", "two\nlines", "😀", "a\0b", "-w /tmp/x", "-h", "<speak>Hi</speak>", "$(reboot)",
        "...",
        "[[", String(repeating: "long ", count: 400),
    ])
    func `every text that is not empty can be spoken`(text: String) async throws {
        let rig = try await SpeechRig()
        let path = try await cache(rig).file(for: text, before: .far)
        #expect(try await stat("Length", of: path) > 0.1)
        #expect(rig.names.count == 1)
    }

    @Test func `markup has no effect`() async throws {
        let rig = try await SpeechRig()
        let path = try await cache(rig).file(for: "<speak>a <break time='60s'/> b</speak>", before: .far)
        #expect(try await stat("Length", of: path) < 30)
    }

    @Test func `a slower speed takes longer`() async throws {
        let rig = try await SpeechRig()
        var lengths: [Double] = []
        for speed in [100, 300] {
            let cache = rig.cache(SpeechRenderer(voice: "en", speed: speed, timeLimit: .seconds(60)))
            lengths.append(try await stat("Length", of: try await cache.file(for: "Church Street", before: .far)))
        }
        #expect(lengths[0] > 1.5 * lengths[1])
    }

    @Test func `an unknown voice is reported in the words of the program`() async throws {
        let rig = try await SpeechRig()
        let error = await cache(rig, voice: "nosuchvoice").error(for: "a")
        let words = "Error: The specified espeak-ng voice does not exist."
        #expect(error == .failed("espeak-ng failed (exit status 1): \(words)"))
    }

    @Test func `a file that is too big is refused`() async throws {
        let rig = try await SpeechRig()
        let error = await cache(rig, sizeLimit: 10_000).error(for: "This has more than ten thousand bytes.")
        #expect(error == .failed("espeak-ng wrote more than 10000 bytes and was killed"))
        #expect(rig.names.isEmpty)
    }
}
