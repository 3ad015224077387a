import BackgroundTasks
import BackgrounderAPI
import ChildProcesses
import Foundation
import Logging
import ServiceLifecycle
import TestSupport
import Testing

extension RealProcesses {
    /// Real commands in real time, one after the other.
    @Suite struct TaskCommandTests {
        @Test func `thirty tasks expire within 50 ms of their budget`() async throws {
            // Other load only adds to the error, so the best of a few attempts shows the scheduler's own.
            var best = Double.infinity
            for _ in 0..<5 where best >= 0.05 {
                best = min(best, try await Self.expiryError(of: 30))
            }
            #expect(best < 0.05, "the 95th percentile was \(best) s")
        }

        /// Returns how many seconds `count` concurrent tasks expire late, at the 95th percentile.
        private static func expiryError(of count: Int) async throws -> Double {
            let rig = try TaskRig()
            let ids = try await withThrowingTaskGroup { group in
                for _ in 0..<count {
                    group.addTask { try await rig.begin("trap '' TERM; exec sleep 100", budget: 1, grace: 0.2).id }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            var errors: [Double] = []
            for id in ids {
                let task = try await rig.wait(for: .expired, of: id)
                // A task that got the signal before it set its trap ended then.
                if task.exitStatus == 128 + SIGKILL { errors.append(task.used - 1) }
            }
            errors.sort()
            try #require(errors.count > count / 2, "\(errors)")
            #expect(errors[0] >= 0, "one was early: \(errors)")
            return errors[errors.count * 95 / 100]
        }

        @Test func `the ended tasks are removed with their output, and open and repeated ones stay`() async throws {
            let rig = try TaskRig()
            let ended = try await rig.begin("echo one").id
            try await rig.wait(for: .finished, of: ended)
            let repeated = try await rig.begin("exec sleep 100", budget: 0.2, grace: 0.1, repeat: true).id
            try await rig.wait(for: .expired, of: repeated)
            let running = try await rig.begin("exec sleep 100").id
            let output = rig.scratch.file("\(ended).log")
            try #require(FileManager.default.fileExists(atPath: output))
            #expect(try await rig.scheduler.clear() == 1)
            #expect(try await rig.scheduler.clear() == 0)
            #expect(await rig.scheduler.tasks().map(\.id) == [repeated, running])
            #expect(rig.journal.saved.records.map(\.task.id) == [repeated, running])
            #expect(!FileManager.default.fileExists(atPath: output))
            _ = try await rig.scheduler.end(running)
        }

        @Test(arguments: [
            ("exit 0", BackgroundTaskState.finished, 0), ("exit 3", .failed, 3), ("kill -9 $$", .failed, 137),
        ])
        func `a command that ends by itself reports its exit status and output`(
            script: String,
            state: BackgroundTaskState,
            status: Int32
        )
            async throws
        {
            let rig = try TaskRig()
            let id = try await rig.begin("echo one; echo two >&2; \(script)").id
            let task = try await rig.wait(for: state, of: id)
            #expect(task.exitStatus == status)
            let output = try await rig.scheduler.output(id)
            #expect(output.text == "one\ntwo\n")
            #expect(!output.truncated)
        }

        @Test func `a command that cannot be started is a failed task with the reason`() async throws {
            let rig = try TaskRig()
            let gone = SpawnFailure(.directory, "/no/such", ENOENT)
            await #expect(throws: TaskError.cannotStart(id: 1, gone)) {
                _ = try await rig.scheduler.begin(TaskRequest(name: "a", command: ["true"], directory: "/no/such"))
            }
            #expect(try await rig.scheduler.task(1).state == .failed)
            #expect(try await rig.scheduler.task(1).detail == gone.description)
            #expect(await !rig.scheduler.isAtWork)
        }

        /// A script that ignores SIGTERM.
        private static func stubborn(_ pipe: String) -> String {
            "trap '' TERM; echo > \(pipe); while :; do sleep 5; done"
        }

        @Test func `ending a task asks first and waits until the task is over`() async throws {
            let rig = try TaskRig()
            let kind = try await rig.beginStanding {
                "trap 'echo bye; exit 0' TERM; echo > \($0); while :; do sleep 0.05; done"
            }.id
            let stubborn = try await rig.beginStanding(budget: 60, grace: 0.3, Self.stubborn).id
            #expect(try await rig.scheduler.end(stubborn).exitStatus == 137)
            let ended = try await rig.scheduler.end(kind)
            #expect(ended.state == .ended)
            #expect(ended.exitStatus == 0)
            // The shell may print a message about the interrupted sleep first.
            #expect(try await rig.scheduler.output(kind).text.hasSuffix("bye\n"))
            await #expect(throws: TaskError.over(id: kind, state: .ended)) { _ = try await rig.scheduler.end(kind) }
        }

        @Test func `a process that cannot be killed is reported in the task's detail`() async throws {
            let rig = try TaskRig()
            let task = try await rig.beginStanding(budget: 60, grace: 0.2) {
                "exec /usr/bin/python3 -c '\(Self.traceable)' > \($0)"
            }
            let pid = try #require(task.pid)
            let (input, output) = (try PipeEnds(), try PipeEnds())
            let tracer = try spawn(
                "/usr/bin/python3",
                ["-c", Self.tracer, "\(pid)"],
                descriptors: [0: input.readEnd, 1: output.writeEnd, 2: output.writeEnd]
            )
            for descriptor in [input.readEnd, output.writeEnd] { close(descriptor) }
            let reader = LineReader(output.readEnd)
            defer {
                close(input.writeEnd)
                waitpid(tracer, nil, 0)
            }
            let said = try await reader.wait(for: "tracer") { lines, isAtEnd in
                lines.contains("ready") || isAtEnd ? lines : nil
            }
            try #require(said == ["ready"])
            #expect(try await rig.scheduler.end(task.id).detail == "some of its processes could not be killed")
        }

        /// A script that any process may trace, even where Yama restricts tracing to parents.
        private static let traceable = """
            import ctypes, time
            ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(2**64 - 1), 0, 0, 0)
            print("ready", flush=True)
            time.sleep(1000)
            """

        /// A script that holds a killed process as a zombie (PTRACE_SEIZE) until its own input ends, so that no other
        /// process can reap it.
        private static let tracer = """
            import ctypes, sys
            ptrace = ctypes.CDLL(None).ptrace
            ptrace.argtypes, ptrace.restype = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p], ctypes.c_long
            assert ptrace(0x4206, int(sys.argv[1]), None, None) == 0
            print("ready", flush=True)
            sys.stdin.read()
            """

        @Test func `an expired repeated task begins again when a client attaches`() async throws {
            let rig = try TaskRig()
            let id = try await rig.begin("sleep 100", budget: 0.4, grace: 0.2, repeat: true).id
            try await rig.wait(for: .expired, of: id)
            await rig.scheduler.apply(isAnyoneAttached: true)
            let again = try await rig.wait(for: .running, of: id + 1)
            #expect(again.repeat)
            #expect(again.command == ["/bin/sh", "-c", "sleep 100"])
            #expect(again.remaining == nil)
            await rig.scheduler.apply(isAnyoneAttached: false)
            try await rig.wait(for: .expired, of: id + 1)
            await rig.scheduler.apply(isAnyoneAttached: true)
            try await rig.wait(for: .running, of: id + 2)
            #expect(try await rig.scheduler.end(id + 2).state == .ended)
            // After each transaction there is exactly one task to repeat, so a kill loses and doubles none.
            #expect(rig.journal.repeating.allSatisfy { $0.count == 1 }, "\(rig.journal.repeating)")
            #expect(rig.journal.repeating.last == [id + 2])
        }

        @Test func `a repetition and a hook's task have the requested environment`() async throws {
            let rig = try TaskRig()
            let environment = ["PATH": "\(rig.scratch.path):/usr/bin:/bin", "COLOUR": "green"]
            _ = try await rig.scratch.script("echo $COLOUR; exec sleep 100", to: "only-in-this-path")
            let request = TaskRequest(
                name: "test",
                command: ["only-in-this-path"],
                environment: environment,
                budget: 2,
                grace: 0.2,
                repeat: true
            )
            let id = try await rig.scheduler.begin(request).id
            try await rig.wait(for: .expired, of: id)
            await rig.scheduler.apply(isAnyoneAttached: true)
            try await rig.wait(for: .running, of: id + 1)
            #expect(rig.journal.saved.records.last?.environment == environment)
            #expect(try await rig.scheduler.addHook(request).environment == environment)
            await rig.scheduler.apply(isAnyoneAttached: false)
            try await rig.wait(for: .running, of: id + 2)
            for id in [id + 1, id + 2] {
                try await rig.wait(for: .expired, of: id)
                #expect(try await rig.scheduler.output(id).text == "green\n")
            }
            for name in ["", "A B", "BACKGROUNDER_TASK", "A\u{0}"] {
                let refused = TaskRequest(name: "test", command: ["true"], environment: [name: "x"])
                await #expect(throws: TaskError.self) { _ = try await rig.scheduler.begin(refused) }
            }
        }

        @Test func `a repetition survives a full store and a stop of the service`() async throws {
            let rig = try TaskRig()
            let service = ServiceGroup(
                services: [rig.scheduler],
                logger: Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() }
            )
            let running = Task { try await service.run() }
            let id = try await rig.begin("sleep 100", budget: 0.4, grace: 0.2, repeat: true).id
            try await rig.wait(for: .expired, of: id)
            rig.journal.isFull = true
            await rig.scheduler.apply(isAnyoneAttached: true)
            try await rig.log.wait(for: 1, with: "Cannot begin task \(id) (test) again")
            rig.journal.isFull = false
            await rig.scheduler.apply(isAnyoneAttached: false)
            await rig.scheduler.apply(isAnyoneAttached: true)
            try await rig.wait(for: .running, of: id + 1)
            await rig.scheduler.apply(isAnyoneAttached: false)
            try await rig.wait(for: .expired, of: id + 1)
            await service.triggerGracefulShutdown()
            try await running.value
            await rig.scheduler.apply(isAnyoneAttached: true)
            try await rig.log.wait(for: 1, with: "Cannot begin task \(id + 1) (test) again")
            #expect(rig.journal.repeating.last == [id + 1])
        }

        @Test func `declared hooks are added, changed and removed, and those of commands stay`() async throws {
            let rig = try TaskRig()
            _ = try await rig.scheduler.addHook(TaskRequest(name: "own", command: ["true"]))
            var sync = TaskRequest(name: "sync", command: ["true"], environment: ["A": "1"])
            try await rig.scheduler.declareHooks([sync], in: "/c.yaml")
            #expect(await rig.scheduler.taskHooks().map(\.name) == ["own", "sync"])
            #expect(await rig.scheduler.taskHooks().map(\.declared) == [false, true])
            await #expect(throws: TaskError.hookDeclared(name: "sync", file: "/c.yaml")) {
                try await rig.scheduler.removeHook("sync")
            }
            sync.environment = ["A": "2"]
            let own = TaskRequest(name: "own", command: ["false"])
            try await rig.scheduler.declareHooks([sync, own], in: "/c.yaml")
            #expect(await rig.scheduler.taskHooks().map(\.command) == [["false"], ["true"]])
            #expect(await rig.scheduler.taskHooks().map(\.environment) == [[:], ["A": "2"]])
            // A restart knows which hooks are declared.
            let next = try TaskRig(journal: rig.journal)
            #expect(await next.scheduler.taskHooks().map(\.declared) == [true, true])
            try await next.scheduler.declareHooks([], in: "/c.yaml")
            #expect(await next.scheduler.taskHooks().isEmpty)
            #expect(next.journal.saved.hooks.isEmpty)
        }

        @Test func `a hook begins a task each time the last client leaves, until it is removed`() async throws {
            let rig = try TaskRig()
            let request = TaskRequest(name: "sync", command: ["/bin/sh", "-c", "echo away"], budget: 20)
            let hook = try await rig.scheduler.addHook(request)
            #expect(hook.grace == 5)
            await #expect(throws: TaskError.hookExists(name: "sync")) { _ = try await rig.scheduler.addHook(request) }
            // No client was attached at the start, so none has left.
            await rig.scheduler.apply(isAnyoneAttached: false)
            for id in 1...2 {
                await rig.scheduler.apply(isAnyoneAttached: true)
                await rig.scheduler.apply(isAnyoneAttached: false)
                #expect(try await rig.wait(for: .finished, of: id).name == "sync")
            }
            #expect(rig.journal.saved.hooks == [hook])
            try await rig.scheduler.removeHook("sync")
            await #expect(throws: TaskError.noSuchHook(name: "sync")) { try await rig.scheduler.removeHook("sync") }
            await rig.scheduler.apply(isAnyoneAttached: true)
            await rig.scheduler.apply(isAnyoneAttached: false)
            #expect(await rig.scheduler.tasks().count == 2)
            #expect(rig.journal.saved.hooks.isEmpty)
        }

        @Test func `a hook for places begins a task with the place, and only when it is asked to`() async throws {
            let rig = try TaskRig()
            let script = "echo $BACKGROUNDER_PLACE; echo $COLOUR"
            let hook = try await rig.scheduler.addHook(
                TaskRequest(
                    name: "gate",
                    command: ["/bin/sh", "-c", script],
                    environment: ["COLOUR": "red"],
                    on: .place
                )
            )
            #expect(rig.journal.saved.hooks == [hook])
            await rig.scheduler.apply(isAnyoneAttached: true)
            await rig.scheduler.apply(isAnyoneAttached: false)
            let task = try await rig.scheduler.runHook("gate", adding: ["BACKGROUNDER_PLACE": "North; gate $HOME"])
            #expect(task.id == 1)
            try await rig.wait(for: .finished, of: 1)
            #expect(try await rig.scheduler.output(1).text == "North; gate $HOME\nred\n")
            _ = try await rig.scheduler.addHook(TaskRequest(name: "sync", command: ["true"]))
            await #expect(throws: TaskError.notForPlaces(name: "sync")) {
                _ = try await rig.scheduler.runHook("sync", adding: [:])
            }
            await #expect(throws: TaskError.noSuchHook(name: "none")) {
                _ = try await rig.scheduler.runHook("none", adding: [:])
            }
            await #expect(throws: TaskError.self) {
                _ = try await rig.scheduler.begin(TaskRequest(name: "now", command: ["true"], on: .place))
            }
        }

        @Test func `stopping the service ends all tasks within about a second, even stubborn ones`() async throws {
            let rig = try TaskRig()
            let service = ServiceGroup(
                services: [rig.scheduler],
                logger: Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() }
            )
            let running = Task { try await service.run() }
            let kind = try await rig.begin("sleep 100").id
            let stubborn = try await rig.beginStanding(Self.stubborn).id
            let sample = try await rig.scheduler.beginSample().id
            let start = ContinuousClock.now
            await service.triggerGracefulShutdown()
            try await running.value
            #expect(ContinuousClock.now - start < .seconds(1.6))
            for id in [kind, stubborn, sample] { #expect(try await rig.scheduler.task(id).state == .ended) }
            #expect(try await rig.scheduler.task(stubborn).exitStatus == 137)
            await #expect(throws: TaskError.stopping) { _ = try await rig.begin("true") }
        }

        @Test func `a task of an earlier boot is lost and does not begin again`() async throws {
            let journal = MemoryTaskJournal()
            let first = try TaskRig(journal: journal)
            let command = try await first.begin("sleep 100", repeat: true).id
            _ = try await first.scheduler.beginSample()
            let second = try TaskRig(journal: journal, boot: "another boot")
            await second.scheduler.resume()
            await second.scheduler.apply(isAnyoneAttached: true)
            #expect(await second.scheduler.tasks().map(\.state) == [.lost, .lost])
            _ = try await first.scheduler.end(command)
        }
    }
}
