import Foundation
import TestSupport
import Testing

/// A mounted folder that stops answering when it is told to. It is unmounted with the last reference.
final class SlowDisk: Sendable {
    /// The files of `source`, as they are seen through the disk.
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

    /// From now on every read waits.
    func hold() async throws {
        let before = output.lines.count { $0 == "holding" }
        try input.write(contentsOf: Data("hold\n".utf8))
        try await output.wait(for: "the hold") { lines, _ in lines.count { $0 == "holding" } > before ? true : nil }
    }

    /// Until a read waits.
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
