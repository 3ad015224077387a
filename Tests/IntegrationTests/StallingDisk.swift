import Foundation
import TestSupport

/// A disk in the scratch directory that stalls now and then, or fails. Call ``end()`` when it is no longer needed.
final class StallingDisk: Sendable {
    let item: String
    private let process: ForegroundProcess
    private let output: LineReader

    /// - Parameters:
    ///   - seconds: the duration of each stall; `nil` for a disk that fails.
    ///   - step: the number of bytes between stalls, or before the failure.
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

    /// Unmounts the disk: if only its server is killed, the mount stays and every access fails.
    deinit { umount2(URL(fileURLWithPath: item).deletingLastPathComponent().path, Int32(MNT_DETACH)) }

    var stalls: Int { output.lines.count { $0 == "stalled" } }

    /// Removes the disk; its file must not be open.
    func end() async throws {
        process.kill(SIGTERM)
        try await process.waitForEnd()
    }
}

private struct NoDisk: Error, CustomStringConvertible {
    var reason: String
    var description: String { "cannot mount a FUSE file system, which this test needs: \(reason)" }
}
