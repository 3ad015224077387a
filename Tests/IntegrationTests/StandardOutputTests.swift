import Foundation
import TestSupport
import Testing

/// Commands with an unwritable stdout fail with one line, or silently if the pipe has no reader.
@Suite(.sharing) struct StandardOutputTests {
    enum Output: String, CaseIterable, CustomTestStringConvertible {
        case full = "is a full disk"
        case closed = "is closed"
        case unread = "is a pipe without a reader"

        var testDescription: String { rawValue }
    }

    @Test(arguments: Output.allCases)
    func `commands fail if stdout is not writable, with one line or silently on a broken pipe`(output: Output)
        async throws
    {
        let service = try Service(TestConfiguration(source: "gpx:\(Samples.walk)?rate=max"))
        try await service.start()
        try await service.waitForEndOfTrack()
        let commands = [
            ["status"], ["status", "--format", "json"], ["location"], ["track"], ["track", "--follow"],
            ["track", "history"], ["track", "history", "--format", "gpx"], ["track", "map"],
            ["track", "replay", Samples.walk],
            ["audio"], ["audio", "drivers"], ["queue"], ["log"], ["doctor"], ["attach"], ["--version"], ["--help"],
            ["queue", "add", Samples.announcement],
        ]
        for command in commands {
            let run =
                switch output {
                case .full: try await run(service, command, "> /dev/full")
                case .closed: try await run(service, command, ">&-")
                case .unread: try await unread(service, command)
                }
            #expect(run.exitCode == 1, "\(run)")
            if output == .unread {
                #expect(run.errors.isEmpty, "\(run)")
                continue
            }
            // A replay prints its summary before the error.
            let last = run.errors.split(separator: "\n").last ?? ""
            #expect(last.contains("cannot write to stdout"), "\(run)")
            if command.first != "track" || command.dropFirst().first != "replay" { run.expectOneLine([]) }
        }
        #expect(service.pid != nil)
    }

    @Test func `without a service only the error is printed`() async throws {
        let service = try Service(TestConfiguration())
        for command in [["track", "--follow"], ["track"], ["track", "history"], ["track", "trips"]] {
            try await service.command(command).expectRefusal(3, ["not running"])
        }
    }

    /// Runs a command with a shell redirection.
    private func run(_ service: Service, _ command: [String], _ redirection: String) async throws -> ProgramRun {
        try await ProgramRun.of(
            Programs.shell,
            ["-c", "\"$0\" \"$@\" \(redirection)", Products.backgrounder] + command,
            environment: service.environment
        )
    }

    /// Runs a command with a pipe for stdout whose read end is closed.
    private func unread(_ service: Service, _ command: [String]) async throws -> ProgramRun {
        let script = """
            import os, signal, sys
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            ends = os.pipe()
            os.close(ends[0])
            os.dup2(ends[1], 1)
            os.execv(sys.argv[1], sys.argv[1:])
            """
        return try await ProgramRun.of(
            Programs.python,
            ["-c", script, Products.backgrounder] + command,
            environment: service.environment
        )
    }
}
