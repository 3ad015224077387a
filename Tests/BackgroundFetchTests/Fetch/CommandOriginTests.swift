import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import BackgroundFetch

/// Commands as sources: their output, exit statuses and leftover processes.
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

    @Test func `a command's output is the content, and exit status 0 means that it is new`() async throws {
        let reply = try await fetch("pwd; echo $BACKGROUNDER_FETCH $BACKGROUNDER_HOME; echo no >&2", directory: "/usr")
        guard case .content(let bytes, _) = reply.body else { return #expect(Bool(false)) }
        #expect(String(decoding: bytes, as: UTF8.self) == "/usr\na /home/x\n")
        #expect(reply.status == 0)
        #expect(reply.isSurelyNew)
        #expect(reply.bytes == bytes.count)
    }

    @Test func `exit status 3 means that nothing is new`() async throws {
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
    func `any other exit is a failure that gives the reason`(command: String, words: String) async throws {
        let failure = try #require(await failure(command))
        #expect(failure.reason.contains(words), "\(failure)")
    }

    @Test func `the failure names the missing program or folder`() async throws {
        let origin = CommandOrigin(keeper: BuiltProducts.backgrounderd)
        let program = FetchDefinition(name: "a", command: ["/no/such/program"])
        let folder = FetchDefinition(name: "a", command: ["/bin/true"], directory: "/no/such/folder")
        for (source, reason) in [
            (program, "cannot start /no/such/program: no such command"),
            (folder, "cannot enter /no/such/folder: no such folder"),
        ] {
            let failure = await #expect(throws: FetchFailure.self) { try await origin.fetch(source) }
            #expect(failure?.reason == reason)
        }
    }

    @Test func `a command that prints endlessly is killed after 16 MiB`() async throws {
        #expect(await failure("yes")?.reason == "the command printed more than 16 MiB and was killed")
    }

    @Test func `cancelling kills all of a command's processes, even if they ignore signals or change sessions`()
        async throws
    {
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
        for pid in found {
            let (result, code) = (kill(pid, 0), errno)
            #expect(result != 0, "\(pid) lives")
            #expect(code == ESRCH, "\(pid) lives")
        }
    }

    @Test func `a command ends with its processes, even if another process holds its stdout open`() async throws {
        let scratch = try ScratchDirectory()
        let (pids, word) = (try NamedPipe(scratch.file("pids")), scratch.file("word"))
        try #require(mkfifo(word, 0o600) == 0)
        // Open for both directions, so that neither side waits for the other.
        let answer = open(word, O_RDWR | O_CLOEXEC)
        defer { close(answer) }
        // Not `> pids`, for which a shell redirects its own stdout until the program has ended.
        let task = Task { try await fetch("sh -c 'echo $PPID >&3' 3> \(pids.path); read word < \(word); echo $word") }
        let pid = try await pids.reader.wait(for: "the command") { lines, _ in lines.first }
        let held = open("/proc/\(pid)/fd/1", O_WRONLY | O_CLOEXEC)
        try #require(held >= 0)
        #expect(write(answer, "hello\n", 6) == 6)
        let letGo = await blocking(onThread: "test") {
            var waiting = pollfd(fd: held, events: 0, revents: 0)
            return poll(&waiting, 1, 60_000) == 1
        }
        #expect(letGo, "the service still waits for the output")
        close(held)
        guard case .content(let bytes, _) = try await task.value.body else { return #expect(Bool(false)) }
        #expect(String(decoding: bytes, as: UTF8.self) == "hello\n")
    }
}
