import Foundation
import TestSupport
import Testing

/// `attach` on a terminal, under a shell with job control.
@Suite(.sharing) struct TerminalTests {
    @Test func `Ctrl-Z restores the terminal, and fg draws the panels again`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        let terminal = try AttachedTerminal(service, after: "stty -a; echo shown; fg")
        try await terminal.lines.wait(for: "first picture") { lines, _ in lines.isShowingPanels ? true : nil }
        try await terminal.type("\u{1A}")
        try await terminal.lines.wait(for: "modes of the terminal") { lines, _ in
            guard let end = lines.firstIndex(where: { $0.hasPrefix("shown") }) else { return nil as Bool? }
            let text = lines[..<end].joined(separator: "\n")
            let left = try #require(text.range(of: "\u{1B}[?1049l"), "still on the alternate screen: \(text)")
            #expect(text[left.lowerBound...].contains("stopped "), "\(text)")
            let modes = text[left.upperBound...].split(whereSeparator: \.isWhitespace)
            #expect(modes.contains("icanon"), "\(text[left.upperBound...])")
            #expect(modes.contains("echo"), "\(text[left.upperBound...])")
            return true
        }
        try await terminal.lines.wait(for: "second picture") { lines, _ in
            let rest = lines.drop { !$0.hasPrefix("shown") }
            return rest.contains { $0.contains("\u{1B}[?1049h") } && Array(rest).isShowingPanels ? true : nil
        }
        try await terminal.type("q")
        try await terminal.waitForEnd()
    }

    @Test(arguments: ["q", "\u{3}"])
    func `q and Ctrl-C detach even while the request of a key gets no reply`(leave: String) async throws {
        let service = try Service(TestConfiguration())
        let pid = try await service.start()
        let terminal = try AttachedTerminal(service)
        try await terminal.lines.wait(for: "first picture") { lines, _ in lines.isShowingPanels ? true : nil }
        kill(pid, SIGSTOP)
        defer { kill(pid, SIGCONT) }
        try await terminal.type(" ")
        let (_, took) = try await time {
            try await terminal.type(leave)
            try await terminal.waitForEnd()
        }
        #expect(took < .seconds(5), "\(took)")
    }

    @Test func `the budget of a strict task counts down on the screen while nothing happens`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        let begun = try await service.command(["task", "begin", "wait", "--strict", "--", "sleep", "60"])
        #expect(begun.exitCode == 0, "\(begun)")
        let terminal = try AttachedTerminal(service)
        try await terminal.lines.wait(for: "three seconds") { lines, _ in
            let shown = Set(lines.flatMap { $0.matches(of: /[0-9]:[0-9][0-9] left/).map { String($0.output) } })
            return shown.count >= 3 ? true : nil
        }
        try await terminal.type("q")
        try await terminal.waitForEnd()
    }

    @Test func `waiting for a fetch shows the elapsed time, on a terminal only`() async throws {
        let service = try Service(TestConfiguration(modes: "[fetch]"))
        try await service.start()
        let added = try await service.command(["fetch", "add", "slow", "--exec", "sleep 2.5; echo new"])
        #expect(added.exitCode == 0, "\(added)")
        let run = try await ProgramRun.of(
            Programs.script,
            ["-qefc", "'\(Products.backgrounder)' fetch run slow", "/dev/null"],
            environment: service.environment
        )
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.text.contains("\r\u{1B}[Kslow: fetching … 1 s\r\u{1B}[K"), "\(run)")
        #expect(run.text.contains("\r\u{1B}[Kslow: New data was fetched."), "the progress line is not replaced: \(run)")
        let piped = try await service.command(["fetch", "run", "slow"])
        #expect(piped.exitCode == 0, "\(piped)")
        #expect(piped.errors.isEmpty, "\(piped)")
        #expect(!piped.text.contains("fetching"), "\(piped)")
    }
}

/// A shell on its own terminal that runs `attach` as a job and then prints `stopped` or `ended` with the exit code.
private final class AttachedTerminal: Sendable {
    let lines: LineReader
    private let process: ForegroundProcess
    private let input: PipeEnds

    /// - Parameter commands: shell commands to run after `attach` was stopped.
    init(_ service: Service, after commands: String = "") throws {
        input = try PipeEnds()
        let output = try PipeEnds()
        let attach = "set -m; '\(Products.backgrounder)' attach; code=$?"
        let stopped = commands.isEmpty ? "" : "; echo \"stopped $code\"; \(commands); code=$?"
        process = try ForegroundProcess(
            Programs.setsid,
            [Programs.script, "-qefc", "\(attach)\(stopped); echo; echo \"ended $code\"", "/dev/null"],
            environment: service.environment.merging(["SHELL": Programs.shell, "LC_ALL": "C"]) { $1 },
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

    /// Returns when `attach` has ended with exit code 0.
    func waitForEnd() async throws {
        try await lines.wait(for: "end of attach") { lines, _ in
            let line = lines.last { $0.hasPrefix("ended ") }
            return try line.map { try #require($0.hasPrefix("ended 0"), "\($0)") }
        }
    }
}

extension [String] {
    fileprivate var isShowingPanels: Bool { contains { $0.contains("┌ Audio") } && contains { $0.contains("┌ Fetch") } }
}
