import BackgrounderAPI
import Foundation
import LocationUpdates
import Synchronization
import TestSupport
import Testing

@Suite struct GPSDRecorderTests {
    let scratch: ScratchDirectory
    let endings = Endings()

    final class Endings: Sendable {
        let heard = Mutex<[GPSDRecorder.Ending]>([])
    }

    init() throws {
        scratch = try ScratchDirectory()
    }

    /// A manager that reads a fake gpsd with this recorder, and what was recorded when all of `lines` had been taken.
    private func record(
        _ lines: [String],
        limit: Int? = nil,
        hasSpace: (@Sendable (Int32) -> Bool)? = nil
    ) async throws -> (text: String, points: [Location]) {
        let path = scratch.file("recording.jsonl")
        let recorder = try GPSDRecorder(path: path, limit: limit, hasSpace: hasSpace) { [endings] ending in
            endings.heard.withLock { $0.append(ending) }
        }
        let fake = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(fake.port)", recorder: recorder)
        let client = try await fake.client()
        for line in lines { client.send(line: line) }
        let fixes = lines.count { $0.hasPrefix("{\"class\":\"TPV\"") }
        try await rig.wait(for: "\(fixes) fixes") { $0.received == fixes }
        // Before the end of anything: what was taken is in the file.
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try await rig.shutDown()
        return (text, await rig.journal.points)
    }

    @Test("A recording has every line that gpsd said, and replayed it gives the points of the service")
    func recording() async throws {
        let lines = GPSDLogTests.drive(seed: 9, count: 300, gaps: false)
        let (text, points) = try await record(lines)
        #expect(text == lines.map { $0 + "\n" }.joined())
        #expect(endings.heard.withLock { $0 }.isEmpty)
        let replay = try await LocationRig("gpsd-log:\(scratch.file("recording.jsonl"))?rate=max")
        try await replay.wait(for: "end of the log") { $0.connection == .finished }
        #expect(await replay.journal.points == points && points.count > 100)
        try await replay.shutDown()
    }

    @Test("At its limit it ends once with a whole line, and the tracking goes on")
    func limit() async throws {
        let lines = (0..<200).map { tpv(at: $0, metres: 20 * Double($0)) }
        let (text, points) = try await record(lines, limit: 5000)
        #expect(points.count == 200)
        #expect(text.utf8.count <= 5000 && lines.map { $0 + "\n" }.joined().hasPrefix(text))
        #expect(text.isEmpty || text.hasSuffix("}\n"))
        #expect(endings.heard.withLock { $0 } == [.full(limit: 5000)])
    }

    @Test("It leaves a disk alone that is nearly full, and the tracking goes on")
    func lowSpace() async throws {
        let (text, points) = try await record((0..<5).map { tpv(at: $0) }, hasSpace: { _ in false })
        #expect(text.isEmpty && points.count == 5)
        #expect(endings.heard.withLock { $0 } == [.lowSpace])
    }

    @Test("A file that is there is not touched; one that cannot be made is refused")
    func refused() throws {
        let path = try scratch.write("precious", to: "there.jsonl")
        let there = try #require(throws: RecordingError.self) { _ = try GPSDRecorder(path: path) { _ in } }
        #expect(there.code == EEXIST && there.description.contains("already exists"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
        let none = try #require(throws: RecordingError.self) { _ = try GPSDRecorder(path: "\(path)/x") { _ in } }
        #expect(none.code == ENOTDIR && none.description.contains("Not a directory"))
    }

    @Test("Every ending is one line with its reason")
    func words() {
        for (ending, word) in [
            (.full(limit: 1 << 30), "1073741824"), (.lowSpace, "5 %"), (.failed(ENOSPC), "No space left"),
        ] as [(GPSDRecorder.Ending, String)] {
            let line = GPSDRecorder.describe(ending, path: "/r.jsonl")
            #expect(line.contains("/r.jsonl") && line.contains(word) && line.contains("tracking continues"))
        }
    }
}
