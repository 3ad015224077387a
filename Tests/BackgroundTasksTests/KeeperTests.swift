import ChildProcesses
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Tests of real processes. They run one after the other, because some measure time.
@Suite(.serialized) enum RealProcesses {}

extension RealProcesses {
    /// Real keepers and real process trees.
    @Suite struct KeeperTests {
        private static let trees = 50

        /// Begins a command and returns a reader of its output.
        private static func begin(
            _ arguments: [String],
            directory: String? = nil,
            mark: String = "BACKGROUNDER_TASK=test-\(UInt64.random(in: 0 ... .max))"
        ) async throws -> (process: KeptProcess, output: LineReader) {
            let pipe = try PipeEnds()
            defer { close(pipe.writeEnd) }
            let parts = mark.split(separator: "=", maxSplits: 1).map(String.init)
            let process = try await KeptProcess.begin(
                CommandOrder(arguments, directory: directory, environment: [parts[0]: parts[1]], mark: mark),
                keeper: BuiltProducts.backgrounderd,
                output: (pipe.writeEnd, pipe.writeEnd)
            )
            return (process, LineReader(pipe.readEnd))
        }

        /// Begins a script, kills it as soon as it is ready and expects that all its processes end.
        private static func killWhenReady(_ script: String) async throws {
            let (process, output) = try await begin(["/bin/sh", "-c", script])
            try await output.waitForReady()
            process.kill()
            let end = await process.end()
            #expect(end?.isComplete == true)
            #expect(end?.exitStatus == 128 + SIGKILL)
        }

        @Test func `no process of fifty hostile trees survives`() async throws {
            let tokens = Array(
                Set((0..<Self.trees * 2).map { _ in Int.random(in: 100_000..<1_000_000) }).prefix(Self.trees)
            )
            // Tuned: five at a time, which a small machine can run.
            for batch in stride(from: 0, to: tokens.count, by: 5).map({ tokens[$0..<min($0 + 5, tokens.count)] }) {
                try await withThrowingTaskGroup { group in
                    for token in batch {
                        group.addTask {
                            let (process, output) = try await Self.begin([
                                "/bin/sh", "-c", HostileTree.script(token: token),
                            ])
                            try await output.waitForReady()
                            #expect(!ProcessSearch.running(with: "\(token)").isEmpty)
                            process.terminate()
                            process.kill()
                            let end = await process.end()
                            #expect(end?.exitStatus == 128 + SIGKILL)
                            #expect(end?.wasEnded == true)
                            #expect(end?.isComplete == true)
                            #expect(ProcessSearch.running(with: "\(token)") == [])
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }

        @Test func `a process that forks and exits as fast as it can is caught`() async throws {
            let token = Int.random(in: 100_000..<1_000_000)
            let hop = """
                my $n = 0; while (1) { my $p = fork(); exit 0 if $p; setsid();
                    syswrite(STDOUT, "ready\\n") if ++$n == 100; } # \(token)
                """
            try await Self.killWhenReady("perl -MPOSIX -e '\(hop)' & exec sleep 86400.\(token)")
            #expect(ProcessSearch.running(with: "\(token)") == [])
        }

        @Test func `a process without its first thread and in another session is ended with the others`() async throws {
            try await Self.killWhenReady("setsid /usr/bin/python3 -c '\(Self.headless)' & exec sleep 1000")
        }

        /// A script whose first thread ends and is a zombie while another thread continues.
        private static let headless = """
            import ctypes, threading, time
            def work():
                while open("/proc/self/stat").read().rsplit(")", 1)[1].split()[0] != "Z": time.sleep(0.01)
                print("ready", flush=True)
                time.sleep(1000)
            threading.Thread(target=work).start()
            ctypes.CDLL(None).pthread_exit(None)
            """

        @Test func `processes that a command leaves behind are ended with it`() async throws {
            let token = Int.random(in: 100_000..<1_000_000)
            let (process, _) = try await Self.begin(["/bin/sh", "-c", "setsid env -i sleep 86400.\(token) & exit 3"])
            let end = await process.end()
            #expect(end?.exitStatus == 3)
            #expect(end?.wasEnded == false)
            #expect(ProcessSearch.running(with: "86400.\(token)") == [])
        }

        @Test func `a tree whose keeper is killed is found by its mark, group and session`() async throws {
            let token = Int.random(in: 100_000..<1_000_000)
            let script = """
                trap '' TERM; setsid sleep 86400.\(token) & (setsid sh -c 'sleep 86400.\(token)' &)
                env -i sleep 86400.\(token) & echo ready; sleep 86400.\(token)
                """
            let (process, output) = try await Self.begin(["/bin/sh", "-c", script])
            try await output.waitForReady()
            process.killKeeper()
            #expect(await process.end() == nil)
            #expect(ProcessSearch.running(with: "86400.\(token)") == [])
        }

        @Test func `a process that reuses a dead leader's pid is spared, and so is its group`() async throws {
            let token = Int.random(in: 100_000..<1_000_000)
            let (process, output) = try await Self.begin(["/bin/sh", "-c", "sleep 86400.\(token) & echo ready; wait"])
            try await output.waitForReady()
            let mark = "BACKGROUNDER_TASK=test-\(UInt64.random(in: 0 ... .max))"
            var dead = process.running
            dead.start -= 1
            #expect(await KeptProcess.sweep(dead, mark: mark))
            #expect(ProcessSearch.running(with: "86400.\(token)").count == 2)
            #expect(await KeptProcess.sweep(process.running, mark: mark))
            #expect(await process.end()?.exitStatus == 128 + SIGKILL)
            #expect(ProcessSearch.running(with: "86400.\(token)") == [])
        }

        @Test func `a keeper that was stopped by a process of its tree still ends the tree`() async throws {
            let script = "trap 'kill -STOP $PPID; echo ready' TERM; echo begun; while :; do sleep 0.05; done"
            let (process, output) = try await Self.begin(["/bin/sh", "-c", script])
            try await output.wait(for: "trap") { lines, _ in lines.contains("begun") ? () : nil }
            process.terminate()
            try await output.waitForReady()
            process.kill()
            #expect(await process.end()?.isComplete == true)
        }

        @Test func `a command inherits no descriptors, session or blocked signals from the service`() async throws {
            let mark = "BACKGROUNDER_TASK=test-\(UInt64.random(in: 0 ... .max))"
            let script = """
                echo "$BACKGROUNDER_TASK"; pwd; ls -x /proc/$$/fd
                ps -o pid=,pgid=,sid= -p $$; grep -E '^Sig(Blk|Ign)' /proc/$$/status
                """
            let (process, output) = try await Self.begin(["/bin/bash", "-c", script], directory: "/usr", mark: mark)
            #expect(await process.end()?.exitStatus == 0)
            let lines = try await output.wait(for: "end of the output") { $1 ? $0 : nil }
            try #require(lines.count == 6, "\(lines)")
            #expect(lines[0] == String(mark.split(separator: "=")[1]))
            #expect(lines[1] == "/usr")
            #expect(lines[2].split(separator: " ") == ["0", "1", "2"])
            #expect(
                lines[3].split(separator: " ").compactMap { Int32($0) }
                    == Array(repeating: process.running.pid, count: 3)
            )
            // The C library leaves two of its own signals (32 and 33) ignored in spawned processes.
            #expect(lines[4] == "SigBlk:\t0000000000000000")
            #expect(lines[5] == "SigIgn:\t0000000180000000")
        }

        enum Fault: CaseIterable {
            case noProgram, notInPath, emptyName, notExecutable, noInterpreter, missingInterpreter, noDirectory,
                fileAsDirectory, folder, relativeFolder, tooLong
        }

        @Test(arguments: Fault.allCases)
        func `a command that cannot be started is refused with the reason`(_ fault: Fault) async throws {
            let scratch = try ScratchDirectory()
            let file = try scratch.write("echo hello\n", to: "file")
            let executable = try scratch.write("hello\n", to: "executable")
            let script = try scratch.write("#!/no/such/shell\n", to: "script")
            for path in [executable, script] { chmod(path, 0o755) }
            let (arguments, directory, failure): ([String], String?, SpawnFailure) =
                switch fault {
                case .noProgram: (["/no/such"], nil, SpawnFailure(.program, "/no/such", ENOENT))
                case .notInPath: (["no-such-command"], nil, SpawnFailure(.program, "no-such-command", ENOENT))
                case .emptyName: ([""], nil, SpawnFailure(.program, "\"\"", ENOENT))
                case .notExecutable: ([file], nil, SpawnFailure(.program, file, EACCES))
                case .noInterpreter: ([executable], nil, SpawnFailure(.program, executable, ENOEXEC))
                case .missingInterpreter: ([script], nil, SpawnFailure(.program, script, ENOENT))
                case .noDirectory: (["true"], "/no/such", SpawnFailure(.directory, "/no/such", ENOENT))
                case .fileAsDirectory: (["true"], file, SpawnFailure(.directory, file, ENOTDIR))
                case .folder: ([scratch.path], nil, SpawnFailure(.program, scratch.path, EISDIR))
                case .relativeFolder: (["./."], scratch.path, SpawnFailure(.program, "./.", EISDIR))
                case .tooLong:
                    (["true", String(repeating: "a", count: 1 << 20)], nil, SpawnFailure(.program, "true", E2BIG))
                }
            await #expect(throws: failure) { _ = try await Self.begin(arguments, directory: directory) }
            #expect(!failure.description.contains("\n"))
            #expect(failure.description.hasPrefix("cannot "))
        }

        @Test func `the longest command may consist of control characters`() async throws {
            let (process, _) = try await Self.begin(["true", String(repeating: "\u{1}", count: 65_530)])
            #expect(await process.end()?.exitStatus == 0)
        }

        @Test func `no command begins without a working keeper program`() async throws {
            let order = CommandOrder(["true"], mark: "A=1")
            await #expect(throws: SpawnFailure(.keeper, "/no/such", ENOENT)) {
                _ = try await KeptProcess.begin(order, keeper: "/no/such")
            }
            // A program that is not a keeper sends no reply.
            await #expect(throws: SpawnFailure(.keeper, "/bin/true", ECHILD)) {
                _ = try await KeptProcess.begin(order, keeper: "/bin/true")
            }
        }

        @Test func `output is kept up to its limit, and the command does not block on the rest`() async throws {
            let scratch = try ScratchDirectory()
            var order = CommandOrder(["/bin/sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x; echo end"], mark: "A=1")
            order.output = CommandOrder.OutputFile(path: scratch.file("log"), limit: 100_000)
            let process = try await KeptProcess.begin(order, keeper: BuiltProducts.backgrounderd)
            #expect(await process.end()?.exitStatus == 0)
            let text = try String(contentsOfFile: scratch.file("log"), encoding: .utf8)
            #expect(text == String(repeating: "x", count: 100_000))
        }

        @Test func `a keeper without its service ends the command on time and records the result`() async throws {
            let scratch = try ScratchDirectory()
            let now = MonotonicTime.now.sinceStart
            let order = CommandOrder(
                ["/bin/sh", "-c", "trap 'echo asked' TERM; echo ready; while :; do sleep 0.05; done"],
                mark: "A=1",
                lease: .until(
                    // Tuned: after the start of three programs, even on a busy machine.
                    term: (now + .milliseconds(3000)).nanoseconds,
                    kill: (now + .milliseconds(3400)).nanoseconds
                ),
                output: CommandOrder.OutputFile(path: scratch.file("log"), limit: 1000),
                socket: scratch.file("socket"),
                result: scratch.file("result")
            )
            // A separate process begins the keeper and exits; the driver's output ends with the keeper.
            let json = String(decoding: try JSONEncoder().encode(order), as: UTF8.self)
            let driver = try await ProgramRun.of(
                "/usr/bin/python3",
                ["-c", Self.driver, BuiltProducts.backgrounderd, json]
            )
            #expect(driver.exitCode == 0, "\(driver)")
            let end = try JSONDecoder().decode(
                CommandEnd.self,
                from: Data(contentsOf: URL(fileURLWithPath: scratch.file("result")))
            )
            #expect(end.wasEnded)
            #expect(end.isComplete)
            #expect(end.exitStatus == 128 + SIGKILL)
            let late = end.time - (now + .milliseconds(3400)).nanoseconds
            #expect(late >= 0, "\(late) ns late")
            #expect(late < 300_000_000, "\(late) ns late")
            let text = try String(contentsOfFile: scratch.file("log"), encoding: .utf8)
            #expect(text.hasPrefix("ready\n"))
            #expect(text.hasSuffix("asked\n"))
            #expect(!FileManager.default.fileExists(atPath: scratch.file("socket")))
        }

        @Test func `a keeper that takes three seconds to answer is found`() async throws {
            let scratch = try ScratchDirectory()
            let (socket, mark) = (scratch.file("socket"), "BACKGROUNDER_TASK=test-\(UInt64.random(in: 0 ... .max))")
            let order = CommandOrder(["sleep", "86400"], mark: mark, socket: socket)
            let process = try await KeptProcess.begin(order, keeper: BuiltProducts.backgrounderd)
            kill(process.running.keeper, SIGSTOP)
            let finding = Task { await KeptProcess.find(socket: socket, mark: mark) }
            let (threeSeconds, _) = try await Self.begin(["sleep", "3"])
            _ = await threeSeconds.end()
            kill(process.running.keeper, SIGCONT)
            #expect(await finding.value?.running.pid == process.running.pid)
            // The second connection replaces the first, which then takes the keeper for killed and ends the tree.
            #expect(await process.end() == nil)
        }

        /// A script that starts a keeper as the service does and exits silently once the command runs.
        private static let driver = """
            import os, socket, subprocess, sys
            os.dup2(1, 9, inheritable=True)
            ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            keeper = subprocess.Popen(["task-keeper"], executable=sys.argv[1], close_fds=False, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                preexec_fn=lambda: (os.dup2(its.fileno(), 3), os.set_inheritable(3, True)))
            its.close()
            ours.send(b'{"begin":{"_0":' + sys.argv[2].encode() + b'}}')
            assert b"began" in ours.recv(100000)
            os._exit(0)
            """
    }
}

extension LineReader {
    fileprivate func waitForReady() async throws {
        try await wait(for: "tree that is ready") { lines, _ in lines.contains("ready") ? () : nil }
    }
}
