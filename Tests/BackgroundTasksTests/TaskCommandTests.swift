import BackgroundTasks
import BackgrounderAPI
import ChildProcesses
import Foundation
import Logging
import ServiceLifecycle
import TestSupport
import Testing

extension RealProcesses {
    /// Real commands in real time, each by itself.
    @Suite struct TaskCommandTests {
        @Test func `Thirty tasks expire within 50 ms of their budget`() async throws {
            // What else runs on the machine only adds to it: the best of a few shows what the scheduler does.
            var best = Double.infinity
            for _ in 0..<5 where best >= 0.05 {
                best = min(best, try await Self.expiryError(of: 30))
            }
            #expect(best < 0.05, "the 95th percentile was \(best) s")
        }

        /// Seconds by which so many at once are late, at the 95th percentile.
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
                // One that was asked before its trap stood went then.
                if task.exitStatus == 128 + SIGKILL { errors.append(task.used - 1) }
            }
            errors.sort()
            try #require(errors.count > count / 2, "\(errors)")
            #expect(errors[0] >= 0, "one was early: \(errors)")
            return errors[errors.count * 95 / 100]
        }

        @Test(arguments: [
            ("exit 0", BackgroundTaskState.finished, 0), ("exit 3", .failed, 3), ("kill -9 $$", .failed, 137),
        ])
        func `A command that ends by itself says how`(script: String, state: BackgroundTaskState, status: Int32)
            async throws
        {
            let rig = try TaskRig()
            let id = try await rig.begin("echo one; echo two >&2; \(script)").id
            let task = try await rig.wait(for: state, of: id)
            #expect(task.exitStatus == status)
            let output = try await rig.scheduler.output(id)
            #expect(output.text == "one\ntwo\n" && !output.truncated)
        }

        @Test func `What cannot be started is a task that failed, with its reason`() async throws {
            let rig = try TaskRig()
            let gone = SpawnFailure(.directory, "/no/such", ENOENT)
            await #expect(throws: TaskError.cannotStart(id: 1, gone)) {
                _ = try await rig.scheduler.begin(TaskRequest(name: "a", command: ["true"], directory: "/no/such"))
            }
            #expect(try await rig.scheduler.task(1).state == .failed)
            #expect(try await rig.scheduler.task(1).detail == gone.description)
            #expect(await !rig.scheduler.isAtWork)
        }

        /// It ignores SIGTERM.
        private static func stubborn(_ pipe: String) -> String {
            "trap '' TERM; echo > \(pipe); while :; do sleep 5; done"
        }

        @Test func `An end asks first, and waits until the task is over`() async throws {
            let rig = try TaskRig()
            let kind = try await rig.beginStanding {
                "trap 'echo bye; exit 0' TERM; echo > \($0); while :; do sleep 0.05; done"
            }.id
            let stubborn = try await rig.beginStanding(budget: 60, grace: 0.3, Self.stubborn).id
            #expect(try await rig.scheduler.end(stubborn).exitStatus == 137)
            let ended = try await rig.scheduler.end(kind)
            #expect(ended.state == .ended && ended.exitStatus == 0)
            // Before it the shell may tell of the sleep that the signal ended.
            #expect(try await rig.scheduler.output(kind).text.hasSuffix("bye\n"))
            await #expect(throws: TaskError.over(id: kind, state: .ended)) { _ = try await rig.scheduler.end(kind) }
        }

        @Test func `What cannot be ended is said before its keeper is given up`() async throws {
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

        /// May be traced by anybody, also where only a parent may (Yama).
        private static let traceable = """
            import ctypes, time
            ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(2**64 - 1), 0, 0, 0)
            print("ready", flush=True)
            time.sleep(1000)
            """

        /// Holds what is left of a process that was killed (PTRACE_SEIZE) until its own input ends: nobody can reap that.
        private static let tracer = """
            import ctypes, sys
            ptrace = ctypes.CDLL(None).ptrace
            ptrace.argtypes, ptrace.restype = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p], ctypes.c_long
            assert ptrace(0x4206, int(sys.argv[1]), None, None) == 0
            print("ready", flush=True)
            sys.stdin.read()
            """

        @Test func `A repeated task that expired begins again when somebody attaches`() async throws {
            let rig = try TaskRig()
            let id = try await rig.begin("sleep 100", budget: 0.4, grace: 0.2, repeat: true).id
            try await rig.wait(for: .expired, of: id)
            await rig.scheduler.apply(isAnyoneAttached: true)
            let again = try await rig.wait(for: .running, of: id + 1)
            #expect(again.repeat && again.command == ["/bin/sh", "-c", "sleep 100"] && again.remaining == nil)
            await rig.scheduler.apply(isAnyoneAttached: false)
            try await rig.wait(for: .expired, of: id + 1)
            await rig.scheduler.apply(isAnyoneAttached: true)
            try await rig.wait(for: .running, of: id + 2)
            #expect(try await rig.scheduler.end(id + 2).state == .ended)
            // A kill at any time costs no repetition, and makes no two of one.
            #expect(rig.journal.repeating.allSatisfy { $0.count == 1 }, "\(rig.journal.repeating)")
            #expect(rig.journal.repeating.last == [id + 2])
        }

        @Test func `A repetition and a hook's task have the environment that was asked for`() async throws {
            let rig = try TaskRig()
            let environment = ["PATH": "\(rig.scratch.path):/usr/bin:/bin", "COLOUR": "green"]
            let program = try rig.scratch.write("#!/bin/sh\necho $COLOUR; exec sleep 100", to: "only-in-this-path")
            chmod(program, 0o700)
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

        @Test func `A repetition outlives a store that is full and the stop of the service`() async throws {
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

        @Test func `A hook begins a task each time the last client leaves, until it is removed`() async throws {
            let rig = try TaskRig()
            let request = TaskRequest(name: "sync", command: ["/bin/sh", "-c", "echo away"], budget: 20)
            let hook = try await rig.scheduler.addHook(request)
            #expect(hook.grace == 5)
            await #expect(throws: TaskError.hookExists(name: "sync")) { _ = try await rig.scheduler.addHook(request) }
            // The service begins with nobody attached: nobody left.
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
            #expect(await rig.scheduler.tasks().count == 2 && rig.journal.saved.hooks.isEmpty)
        }

        @Test func `At the stop all get a second, whatever they do with it`() async throws {
            let rig = try TaskRig()
            let service = ServiceGroup(
                services: [rig.scheduler],
                logger: Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() }
            )
            let running = Task { try await service.run() }
            let kind = try await rig.begin("sleep 100").id
            let stubborn = try await rig.beginStanding(Self.stubborn).id
            let code = try await rig.scheduler.beginBackgroundTask("code") {}
            let start = ContinuousClock.now
            await service.triggerGracefulShutdown()
            try await running.value
            #expect(ContinuousClock.now - start < .seconds(1.6))
            for id in [kind, stubborn, code] { #expect(try await rig.scheduler.task(id).state == .ended) }
            #expect(try await rig.scheduler.task(stubborn).exitStatus == 137)
            await #expect(throws: TaskError.stopping) { _ = try await rig.begin("true") }
        }

        @Test func `What ran at another boot is lost, and so is code; nothing of it begins again`() async throws {
            let journal = MemoryTaskJournal()
            let first = try TaskRig(journal: journal)
            let command = try await first.begin("sleep 100", repeat: true).id
            _ = try await first.scheduler.beginBackgroundTask("code") {}
            let second = try TaskRig(journal: journal, boot: "another boot")
            await second.scheduler.resume()
            await second.scheduler.apply(isAnyoneAttached: true)
            #expect(await second.scheduler.tasks().map(\.state) == [.lost, .lost])
            _ = try await first.scheduler.end(command)
        }
    }
}
