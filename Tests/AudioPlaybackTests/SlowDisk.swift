import Foundation
import TestSupport
import Testing

/// A mounted folder that stops answering on request. It is unmounted with the last reference.
final class SlowDisk: Sendable {
    /// The mount point, which shows the files of `source`.
    let path: String
    private let process: ForegroundProcess
    private let input: FileHandle
    private let output: LineReader

    init(_ source: String, at path: String) async throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Reference/slow_disk.py").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let (orders, answers) = (Pipe(), Pipe())
        self.path = path
        process = try ForegroundProcess(
            "/usr/bin/python3",
            [script, source, path],
            descriptors: [
                0: orders.fileHandleForReading.fileDescriptor, 1: answers.fileHandleForWriting.fileDescriptor,
                2: STDERR_FILENO,
            ]
        )
        input = orders.fileHandleForWriting
        output = LineReader(dup(answers.fileHandleForReading.fileDescriptor))
        try answers.fileHandleForWriting.close()
        try orders.fileHandleForReading.close()
        try await output.wait(for: "the disk") { lines, _ in lines.contains("ready") ? true : nil }
    }

    deinit {
        try? input.close()
        Self.unmount(path)
    }

    /// Makes every read wait from now on.
    func hold() async throws {
        let before = output.lines.count { $0 == "holding" }
        try input.write(contentsOf: Data("hold\n".utf8))
        try await output.wait(for: "the hold") { lines, _ in lines.count { $0 == "holding" } > before ? true : nil }
    }

    /// Waits until a read is blocked.
    func isWaitedFor() async throws {
        try await output.wait(for: "a read that waits") { lines, _ in lines.contains("waiting") ? true : nil }
    }

    func go() throws { try input.write(contentsOf: Data("go\n".utf8)) }

    private static func unmount(_ path: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["fusermount3", "-uzq", path]
        try? process.run()
        process.waitUntilExit()
    }
}
