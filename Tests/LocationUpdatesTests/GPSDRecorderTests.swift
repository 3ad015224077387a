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

    /// Records `lines` of a fake gpsd; returns the recording and the points once all lines have been received.
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
        // Read before the shutdown, because received lines must already be in the file.
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try await rig.shutDown()
        return (text, await rig.journal.points)
    }

    @Test func `a recording has every line that gpsd sent and replays to the same points`() async throws {
        let lines = GPSDLogTests.drive(seed: 9, count: 300, gaps: false)
        let (text, points) = try await record(lines)
        #expect(text == lines.map { $0 + "\n" }.joined())
        #expect(endings.heard.withLock { $0 }.isEmpty)
        let replay = try await LocationRig("gpsd-log:\(scratch.file("recording.jsonl"))?rate=max")
        try await replay.wait(for: "end of the log") { $0.connection == .finished }
        #expect(await replay.journal.points == points)
        #expect(points.count > 100)
        try await replay.shutDown()
    }

    @Test func `at its size limit a recording ends once with a whole line, and tracking continues`() async throws {
        let lines = (0..<200).map { tpv(at: $0, metres: 20 * Double($0)) }
        let (text, points) = try await record(lines, limit: 5000)
        #expect(points.count == 200)
        #expect(text.utf8.count <= 5000)
        #expect(lines.map { $0 + "\n" }.joined().hasPrefix(text))
        #expect(text.isEmpty || text.hasSuffix("}\n"))
        #expect(endings.heard.withLock { $0 } == [.full(limit: 5000)])
    }

    @Test func `nothing is recorded on a nearly full disk, and tracking continues`() async throws {
        let (text, points) = try await record((0..<5).map { tpv(at: $0) }, hasSpace: { _ in false })
        #expect(text.isEmpty)
        #expect(points.count == 5)
        #expect(endings.heard.withLock { $0 } == [.lowSpace])
    }

    @Test func `an existing file is not touched, and a path that cannot be created is refused`() throws {
        let path = try scratch.write("precious", to: "there.jsonl")
        let there = try #require(throws: RecordingError.self) { _ = try GPSDRecorder(path: path) { _ in } }
        #expect(there.code == EEXIST)
        #expect(there.description.contains("already exists"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
        let none = try #require(throws: RecordingError.self) { _ = try GPSDRecorder(path: "\(path)/x") { _ in } }
        #expect(none.code == ENOTDIR)
        #expect(none.description.contains("Not a directory"))
    }

    @Test func `every ending is described with the path and the reason`() {
        for (ending, word) in [
            (.full(limit: 1 << 30), "1073741824"), (.lowSpace, "5 %"), (.failed(ENOSPC), "No space left"),
        ] as [(GPSDRecorder.Ending, String)] {
            let line = GPSDRecorder.describe(ending, path: "/r.jsonl")
            #expect(line.contains("/r.jsonl"))
            #expect(line.contains(word))
            #expect(line.contains("tracking continues"))
        }
    }
}
