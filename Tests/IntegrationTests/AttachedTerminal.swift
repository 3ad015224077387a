import Foundation
import TestSupport
import Testing

/// A shell on its own terminal of 80 columns and 24 rows that runs `attach` as a job and then prints `stopped` or `ended`
/// with the exit code.
final class AttachedTerminal: Sendable {
    let lines: LineReader
    private let process: ForegroundProcess
    private let input: PipeEnds

    /// - Parameters:
    ///   - commands: shell commands to run after `attach` was stopped.
    ///   - variables: environment variables of the terminal.
    init(_ service: Service, after commands: String = "", variables: [String: String] = [:]) throws {
        input = try PipeEnds()
        let output = try PipeEnds()
        let attach = "set -m; stty cols 80 rows 24; '\(Products.backgrounder)' attach; code=$?"
        let stopped = commands.isEmpty ? "" : "; echo \"stopped $code\"; \(commands); code=$?"
        let own = ["SHELL": Programs.shell, "LC_ALL": "C.UTF-8", "TERM": "xterm"]
        process = try ForegroundProcess(
            Programs.setsid,
            [Programs.script, "-qefc", "\(attach)\(stopped); echo; stty -a; echo \"ended $code\"", "/dev/null"],
            environment: service.environment.merging(own) { $1 }.merging(variables) { $1 },
            descriptors: [0: input.readEnd, 1: output.writeEnd]
        )
        close(input.readEnd)
        close(output.writeEnd)
        lines = LineReader(output.readEnd)
    }

    deinit { close(input.writeEnd) }

    func type(_ text: String) async throws {
        let count = text.utf8.count
        guard write(input.writeEnd, text, count) == count else { throw SystemCallFailure("write") }
    }

    /// Types `text` and returns when the screen shows `result`.
    func type(_ text: String, until result: String) async throws {
        let before = lines.lines.count
        try await type(text)
        try await wait(for: result, after: before)
    }

    /// Returns when a line after the first `count` ones contains `text`.
    func wait(for text: String, after count: Int = 0) async throws {
        try await lines.wait(for: text) { lines, _ in lines.dropFirst(count).contains { $0.contains(text) } ? true : nil
        }
    }

    /// Returns when the panels are on the screen.
    func waitForPanels() async throws {
        try await lines.wait(for: "first picture") { lines, _ in lines.isShowingPanels ? true : nil }
    }

    /// Returns when `attach` has ended with this exit code.
    func waitForEnd(_ code: Int = 0) async throws {
        try await lines.wait(for: "end of attach") { lines, _ in
            let line = lines.last { $0.hasPrefix("ended ") }
            return try line.map { try #require($0.hasPrefix("ended \(code)"), "\($0)") }
        }
    }

    /// Checks, after the end of `attach`, that it left the screen and the modes as they were.
    func expectRestored() throws {
        let text = lines.lines.joined(separator: "\n")
        let left = try #require(text.range(of: "\u{1B}[?25h\u{1B}[?1049l"), "still on the alternate screen")
        let modes = text[left.upperBound...].split { $0.isWhitespace || $0 == ";" }
        #expect(modes.contains("icanon"), "\(modes)")
        #expect(modes.contains("echo"), "\(modes)")
    }
}

extension [String] {
    var isShowingPanels: Bool { contains { $0.contains("┌ Audio") } && contains { $0.contains("┌ Fetch") } }
}
