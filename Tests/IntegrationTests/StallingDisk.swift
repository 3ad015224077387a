import Foundation
import TestSupport

/// A disk that stops now and then, or fails, in a folder of the scratch directory; whoever asks for it ends it.
final class StallingDisk: Sendable {
    let item: String
    private let process: ForegroundProcess
    private let output: LineReader

    /// - Parameters:
    ///   - seconds: how long it stops; none for one that fails.
    ///   - step: bytes between two stops, or before what cannot be read.
    init(showing path: String, in scratch: ScratchDirectory, stopping seconds: Int?, each step: Int) async throws {
        let folder = scratch.file("disk")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        item = "\(folder)/item"
        let pipe = try PipeEnds()
        process = try ForegroundProcess(
            Programs.python,
            [
                Products.repository("Tests/Reference/stalling_disk.py"), folder, path,
                seconds.map { "\($0)" } ?? "fail", "\(step)",
            ],
            descriptors: [1: pipe.writeEnd, 2: pipe.writeEnd]
        )
        close(pipe.writeEnd)
        output = LineReader(pipe.readEnd)
        try await output.wait(for: "disk") { lines, isAtEnd in
            if isAtEnd { throw NoDisk(reason: lines.joined(separator: " ")) }
            return lines.contains("ready") ? true : nil
        }
    }

    /// A disk whose server is only killed would stay, and fail whoever looks at it.
    deinit { umount2(URL(fileURLWithPath: item).deletingLastPathComponent().path, Int32(MNT_DETACH)) }

    var stalls: Int { output.lines.count { $0 == "stalled" } }

    /// Takes the disk away; nobody may have its file open.
    func end() async throws {
        process.kill(SIGTERM)
        try await process.waitForEnd()
    }
}

private struct NoDisk: Error, CustomStringConvertible {
    var reason: String
    var description: String { "no FUSE file system can be mounted here, which this test needs: \(reason)" }
}
