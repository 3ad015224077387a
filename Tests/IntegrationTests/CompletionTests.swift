import Foundation
import TestSupport
import Testing

/// Tab completion in bash.
@Suite(.sharing) struct CompletionTests {
    /// Returns the completions offered after `words`.
    private func offers(_ words: [String], _ service: Service) async throws -> [String] {
        let script = """
            "$0" --generate-completion-script bash > "$1/completion.bash"
            . "$1/completion.bash"
            shift
            COMP_WORDS=("$0" "$@" "") COMP_CWORD=$(($# + 1)) COMP_LINE="$0 $* " COMP_POINT=${#COMP_LINE}
            _backgrounder "$0" "" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let scratch = try ScratchDirectory()
        let run = try await ProgramRun.of(
            "/bin/bash",
            ["-c", script, Products.backgrounder, scratch.path] + words,
            environment: service.environment
        )
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.errors.isEmpty, "\(run)")
        return run.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test func `completion offers the names of a running service, and nothing without one`() async throws {
        let service = try Service(TestConfiguration())
        #expect(try await offers(["fetch", "show"], service) == [])
        try await service.start()
        for name in ["news", "tides"] {
            let added = try await service.command(["fetch", "add", name, "--url", "http://127.0.0.1:9/\(name)"])
            #expect(added.exitCode == 0, "\(added)")
        }
        let begun = try await service.command(["task", "begin", "wait", "--", "sleep", "60"])
        #expect(begun.exitCode == 0, "\(begun)")
        #expect(try await offers(["fetch", "show"], service) == ["news", "tides"])
        #expect(try await offers(["quit"], service) == ["news", "tides"])
        #expect(
            try await offers(["task", "end"], service) == [begun.text.trimmingCharacters(in: .whitespacesAndNewlines)]
        )
        #expect(try await offers(["transfer", "pause"], service) == [])
        let push = ["push", "add", "bell", "--mqtt", "mqtt://127.0.0.1:9", "--topic", "bell"]
        let pushed = try await service.command(push)
        #expect(pushed.exitCode == 0, "\(pushed)")
        #expect(try await offers(["push", "remove"], service) == ["bell"])
    }
}
