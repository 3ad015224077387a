import Foundation
import TestSupport

/// `backgrounder log -f` of one service.
final class LogFollower {
    private let reader: LineReader
    private let process: ForegroundProcess

    init(_ service: Service, _ arguments: String...) throws {
        let pipe = try PipeEnds()
        process = try ForegroundProcess(
            Products.backgrounder,
            ["log", "-f", "-n", "10000"] + arguments,
            environment: service.environment,
            descriptors: [1: pipe.writeEnd]
        )
        close(pipe.writeEnd)
        reader = LineReader(pipe.readEnd)
    }

    var lines: [String] { reader.lines }

    /// Returns the first line of the log that contains `words`.
    @discardableResult
    func wait(for words: String) async throws -> String {
        try await reader.wait(for: "line with \(words.debugDescription)") { lines, _ in
            lines.first { $0.contains(words) }
        }
    }
}
