import BackgrounderAPI
import ChildProcesses
import Foundation
import TestSupport
import Testing

@testable import BackgroundFetch

/// Commands as sources: what they print, how they end, and what is left of them.
@Suite struct CommandOriginTests {
    private func fetch(_ command: String, directory: String? = nil) async throws(FetchFailure) -> FetchReply {
        let origin = CommandOrigin(keeper: BuiltProducts.backgrounderd, environment: ["BACKGROUNDER_HOME": "/home/x"])
        return try await origin.fetch(
            FetchDefinition(name: "a", command: ["/bin/sh", "-c", command], directory: directory)
        )
    }

    private func failure(_ command: String) async -> FetchFailure? {
        do {
            _ = try await fetch(command)
            return nil
        } catch {
            return error
        }
    }

    @Test func `What a command prints is the content, and 0 says that it is new`() async throws {
        let reply = try await fetch("pwd; echo $BACKGROUNDER_FETCH $BACKGROUNDER_HOME; echo no >&2", directory: "/usr")
        guard case .content(let bytes, _) = reply.body else { return #expect(Bool(false)) }
        #expect(String(decoding: bytes, as: UTF8.self) == "/usr\na /home/x\n")
        #expect(reply.status == 0 && reply.isSurelyNew && reply.bytes == bytes.count)
    }

    @Test func `3 says that there is nothing new`() async throws {
        let reply = try await fetch("echo ignored; exit 3")
        guard case .unchanged = reply.body else { return #expect(Bool(false)) }
        #expect(reply.status == 3)
    }

    @Test(arguments: [
        ("echo; echo why >&2; echo >&2; exit 1", "the command failed (exit status 1): why"),
        ("/no/such/program", "the command was not found (exit status 127)"),
        ("/etc/passwd", "the command is not executable (exit status 126)"),
        ("kill -9 $$", "the command was killed by signal 9"), ("exit 255", "the command failed (exit status 255)"),
        ("printf 'a\\033[31mb' >&2; exit 2", "a\u{FFFD}[31mb"),
    ])
    func `All else is a failure that says why`(command: String, words: String) async throws {
        let failure = try #require(await failure(command))
        #expect(failure.reason.contains(words), "\(failure)")
    }

    @Test func `A program or a folder that is not there is named`() async throws {
        let origin = CommandOrigin(keeper: BuiltProducts.backgrounderd)
        for source in [
            FetchDefinition(name: "a", command: ["/no/such/program"]),
            FetchDefinition(name: "a", command: ["/bin/true"], directory: "/no/such/folder"),
        ] {
            await #expect(throws: FetchFailure.self) { try await origin.fetch(source) }
        }
    }

    @Test func `A command that prints without end is ended`() async throws {
        #expect(await failure("yes")?.reason == "the command printed more than 16 MiB and was killed")
    }

    @Test func `Nothing is left of a command that is ended, whatever it ignores and wherever it hides`() async throws {
        let scratch = try ScratchDirectory()
        let pids = try NamedPipe(scratch.file("pids"))
        let tree =
            "exec 3> \(pids.path); trap '' TERM; echo $$ >&3; sleep 1000 & echo $! >&3; "
            + "setsid sh -c 'trap \"\" TERM HUP; echo $$ >&3; sleep 1000'; wait"
        let task = Task { await failure(tree) }
        let found = try await pids.reader.wait(for: "three processes") { lines, _ in
            lines.count == 3 ? lines.compactMap { pid_t($0) } : nil
        }
        try #require(found.count == 3)
        task.cancel()
        #expect(await task.value?.kind == .cancelled)
        for pid in found { #expect(kill(pid, 0) != 0 && errno == ESRCH, "\(pid) lives") }
    }

    @Test func `A command is over with its processes, also when somebody else holds its stdout`() async throws {
        let scratch = try ScratchDirectory()
        let (pids, word) = (try NamedPipe(scratch.file("pids")), scratch.file("word"))
        try #require(mkfifo(word, 0o600) == 0)
        // For both directions: neither side waits for the other to open it.
        let answer = open(word, O_RDWR | O_CLOEXEC)
        defer { close(answer) }
        let task = Task { try await fetch("sh -c 'echo $PPID' > \(pids.path); read word < \(word); echo $word") }
        let pid = try await pids.reader.wait(for: "the command") { lines, _ in lines.first }
        let held = open("/proc/\(pid)/fd/1", O_WRONLY | O_CLOEXEC)
        try #require(held >= 0)
        #expect(write(answer, "hello\n", 6) == 6)
        let letGo = await blocking {
            var waiting = pollfd(fd: held, events: 0, revents: 0)
            return poll(&waiting, 1, 20_000) == 1
        }
        #expect(letGo, "the output was still waited for")
        close(held)
        guard case .content(let bytes, _) = try await task.value.body else { return #expect(Bool(false)) }
        #expect(String(decoding: bytes, as: UTF8.self) == "hello\n")
    }
}
