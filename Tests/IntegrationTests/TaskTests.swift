import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Tasks of the real service, with its commands and across crashes.
@Suite(.sharing) struct TaskTests {
    private static func service() async throws -> Service {
        let service = try Service(source: "gpx:\(Products.repository("tracks/city-walk.gpx"))")
        try await service.start()
        try await service.run("location", "stop")
        return service
    }

    /// Begins a shell command as a task.
    ///
    /// - Returns: the id of the task.
    private static func begin(_ service: Service, _ options: [String], _ script: String) async throws -> Int {
        let run = try await service.command(["task", "begin", "test"] + options + ["--", "/bin/sh", "-c", script])
        try #require(run.exitCode == 0, "\(run)")
        return try #require(Int(run.text.trimmingCharacters(in: .newlines)), "\(run)")
    }

    private static func task(_ service: Service, _ id: Int) async throws -> BackgroundTask {
        let tasks: [BackgroundTask] = try await service.json("task", "list")
        return try #require(tasks.first { $0.id == id })
    }

    /// Returns when all of `ids` were in `state`, either in the current list or in an event.
    private static func wait(for state: BackgroundTaskState, of ids: [Int], _ service: Service) async throws {
        let events = try service.events()
        try await events.wait(forState: "first state", within: 60) { _ in true }
        let tasks: [BackgroundTask] = try await service.json("task", "list")
        let already = Set(tasks.filter { $0.state == state }.map(\.id))
        try await events.wait(for: "\(ids.count) tasks that are \(state.rawValue)", within: 60) { received in
            let told = try received.payloads("task").map { try JSON.decode(BackgroundTask.self, from: Data($0.utf8)) }
            let all = already.union(told.filter { $0.state == state }.map(\.id))
            return all.isSuperset(of: ids) ? () : nil
        }
    }

    @Test func `ended tasks are cleared for good, and open ones continue`() async throws {
        let service = try await Self.service()
        let ended = try await Self.begin(service, [], "echo one")
        try await Self.wait(for: .finished, of: [ended], service)
        let open = try await Self.begin(service, [], "exec sleep 100")
        #expect(try await service.run("task", "clear").text == "removed 1 task\n")
        let again: ClearReply = try await service.json("task", "clear")
        #expect(again.removed == 0)
        try await service.crash()
        try await service.start()
        let tasks: [BackgroundTask] = try await service.json("task", "list")
        #expect(tasks.map(\.id) == [open])
        #expect(tasks.map(\.state) == [.running])
        try await service.command(["task", "log", "\(ended)"]).expectRefusal(4, ["no task \(ended)"])
    }

    @Test func `hostile process trees are found again after a crash and ended completely at their budget`()
        async throws
    {
        let service = try await Self.service()
        // Two rounds of 25 trees test the promised 50, as only 32 tasks may be open at a time.
        for _ in 0..<2 {
            let tokens = (0..<25).map { _ in Int.random(in: 100_000..<1_000_000) }
            // Use the socket, as starting a command for each task takes too long.
            let connection = try HTTPConnection(service.paths.controlSocket)
            var ids: [Int] = []
            // Long enough for a crash and a start on a busy machine, and different, so that the trees do not all end
            // together.
            let budgets = tokens.indices.map { 20 + Double($0) / 5 }
            for (token, budget) in zip(tokens, budgets) {
                let command = ["/bin/sh", "-c", HostileTree.quietScript(token: token)]
                let body = TaskRequest(name: "hostile", command: command, budget: budget, grace: 1)
                let reply = try await connection.send("POST", "/v1/tasks", body: JSON.line(body))
                try #require(reply.status == 201, "\(reply.text)")
                ids.append(try JSON.decode(BackgroundTask.self, from: Data(reply.body)).id)
            }
            let before: [BackgroundTask] = try await service.json("task", "list")
            try await service.crash()
            try await service.start()
            let after: [BackgroundTask] = try await service.json("task", "list")
            for id in ids {
                let old = try #require(before.first { $0.id == id })
                let new = try #require(after.first { $0.id == id })
                #expect(new.pid == old.pid, "\(old), \(new)")
                #expect(new.state.isOpen, "\(old), \(new)")
                #expect(new.used > old.used, "\(old), \(new)")
            }
            try await Self.wait(for: .expired, of: ids, service)
            for (id, budget) in zip(ids, budgets) {
                let task = try await Self.task(service, id)
                // The budget also counted while the service was down.
                #expect(task.used >= budget, "\(task)")
                #expect(task.used < budget + 0.5, "\(task)")
                #expect(task.exitStatus == 137, "\(task)")
            }
            for token in tokens { #expect(ProcessSearch.running(with: "\(token)") == []) }
        }
    }

    @Test func `tasks that end while the service is down end in time, and their results are kept`() async throws {
        let service = try await Self.service()
        let gate = service.file("gate")
        let waiting = "while [ ! -e '\(gate)' ]; do sleep 0.05; done"
        let finished = try await Self.begin(service, [], "\(waiting); echo done; exit 7")
        let expired = try await Self.begin(
            service,
            ["--budget", "5s", "--grace", "300ms"],
            "trap '' TERM; while :; do sleep 5; done"
        )
        let pid = service.pid
        let keepers = ProcessSearch.running(with: "task-keeper").filter { ProcessSearch.parent(of: $0) == pid }
        #expect(keepers.count == 2)
        try await service.crash()
        try Data().write(to: URL(fileURLWithPath: gate))
        try await ProcessSearch.waitForEnd(of: keepers)
        try await service.start()
        let first = try await Self.task(service, finished)
        #expect(first.state == .failed)
        #expect(first.exitStatus == 7)
        #expect(first.used < 6)
        let second = try await Self.task(service, expired)
        #expect(second.state == .expired)
        #expect(second.exitStatus == 137)
        #expect(abs(second.used - 5) < 0.3)
        #expect(try await service.run("task", "log", "\(finished)").text == "done\n")
    }

    @Test func `a task whose keeper was killed is lost and does not start again`() async throws {
        let service = try await Self.service()
        let token = Int.random(in: 100_000..<1_000_000)
        let id = try await Self.begin(service, ["--repeat"], "setsid sleep 86400.\(token) & sleep 86400.\(token)")
        let sample = try await service.run("task", "sample").text
        let task = try await Self.task(service, id)
        let keeper = try #require(task.pid.flatMap(ProcessSearch.parent))
        try await service.crash()
        kill(keeper, SIGKILL)
        try await service.start()
        #expect(try await Self.task(service, id).state == .lost)
        let sampleID = try #require(Int(sample.dropLast()))
        #expect(try await Self.task(service, sampleID).state == .lost)
        #expect(ProcessSearch.running(with: "86400.\(token)") == [])
        let events = try service.events(attach: true)
        let state = try await events.wait(forState: "attached client") { $0.status.attached == 1 }
        #expect(state.status.tasks == [])
    }

    @Test func `commands see only allowed and given environment variables`() async throws {
        var configuration = TestConfiguration(modes: "[audio, location, fetch]")
        configuration.rest = ["tasks:", "  environment: [GIVEN, COLOUR=blue, SHAPE=round]"]
        let service = try Service(configuration)
        let foreign = [
            "BACKGROUNDER_MPD_PASSWORD": "secret-1", "GITHUB_TOKEN": "secret-2", "NOTIFY_SOCKET": "secret-3",
        ]
        try await service.start(adding: foreign.merging(["GIVEN": "here", "LC_TIME": "C", "TZ": "UTC"]) { $1 })
        // A command may read the environment of its parent, the keeper.
        let script = "tr '\\0' '\\n' < /proc/$PPID/environ | sed 's/^/keeper:/'; exec env"
        let given = ["--env", "COLOUR=green", "--env", "EMPTY=", "--env", "SPACED=a = b"]
        try await service.run(
            ["task", "begin", "leave", "--on", "detach"] + given + ["--", "/bin/sh", "-c", script]
        )
        try await service.run("fetch", "add", "printed", "--exec", script)
        try await service.run("fetch", "run", "printed")
        let events = try service.events(attach: true)
        try await events.wait(forState: "attached client") { $0.status.attached == 1 }
        events.detach()
        let id = try await Self.begin(service, given, script)
        try await Self.wait(for: .finished, of: [1, 2], service)
        let logs = [
            try await service.run("task", "log", "\(id)").text, try await service.run("task", "log", "\(3 - id)").text,
            try await service.run("fetch", "content", "printed").text,
        ]
        for (log, isTask) in zip(logs, [true, true, false]) {
            let lines = log.split(separator: "\n").map(String.init)
            #expect(!log.contains("secret"), "\(log)")
            for line in [
                "GIVEN=here", "SHAPE=round", "LC_TIME=C", "TZ=UTC", "BACKGROUNDER_HOME=\(service.paths.home ?? "")",
            ] {
                #expect(lines.contains(line), "no \(line) in \(log)")
            }
            let own = isTask ? ["COLOUR=green", "EMPTY=", "SPACED=a = b"] : ["COLOUR=blue"]
            for line in own { #expect(lines.contains(line), "no \(line) in \(log)") }
            let names = Set(lines.map { String($0.prefix { $0 != "=" }).replacing("keeper:", with: "") })
            #expect(names.filter { !Self.allowedNames.contains($0) && !$0.hasPrefix("LC_") } == [])
        }
        // Listing the hooks does not reveal the values.
        #expect(!(try await service.run("task", "hooks", "--format", "json").text.contains("green")))
    }

    private static let allowedNames: Set = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME",
        "XDG_STATE_HOME", "CONFIGURATION_DIRECTORY", "STATE_DIRECTORY", "RUNTIME_DIRECTORY", "BACKGROUNDER_HOME",
        "BACKGROUNDER_TASK", "BACKGROUNDER_FETCH", "BACKGROUNDER_FETCH_RUN", "GIVEN", "COLOUR", "SHAPE", "EMPTY",
        "SPACED",
        // Set by the shell itself.
        "PWD", "OLDPWD", "SHLVL", "_",
    ]

    @Test func `a budget counts only while unattended, and a detach hook runs when the last client leaves`()
        async throws
    {
        let service = try await Self.service()
        try await service.run("task", "begin", "leave", "--on", "detach", "--", "/bin/sh", "-c", "echo left")
        let events = try service.events(attach: true)
        try await events.wait(forState: "attached client") { $0.status.attached == 1 }
        let id = try await Self.begin(service, ["--budget", "30s"], "sleep 100")
        let strict = try await Self.begin(service, ["--strict"], "sleep 100")
        #expect(try await service.run("task", "remaining", "\(id)").text == "unlimited\n")
        let ofStrict = try await service.run("task", "remaining", "\(strict)").text
        #expect((170...180).contains(Double(ofStrict.dropLast()) ?? 0))
        #expect(try await Self.task(service, id).used == 0)
        let left = ContinuousClock.now
        events.detach()
        try await Self.wait(for: .finished, of: [strict + 1], service)
        #expect(try await service.run("task", "log", "\(strict + 1)").text == "left\n")
        let counted = try await service.run("task", "remaining", "\(id)").text
        let since = (ContinuousClock.now - left) / .seconds(1)
        #expect((29.9 - since...30).contains(Double(counted.dropLast()) ?? 0), "\(counted) after \(since) s")
        let status: ServiceStatus = try await service.json("status")
        #expect(status.state == .background)
        #expect(status.tasks?.map(\.id) == [id, strict])

        #expect(try await service.command(["task", "end", "\(id)"]).exitCode == 0)
        let again = try await service.command(["task", "end", "\(id)"])
        #expect(again.exitCode == 1)
        #expect(again.errors == "backgrounder: task \(id) is over: ended; a task can be ended only once\n")
        try await service.run("task", "unhook", "leave")
        #expect(try await service.json("task", "hooks", as: [TaskHook].self) == [])
        try await service.run("stop")
        let log = try String(contentsOfFile: service.paths.log, encoding: .utf8)
        #expect(log.contains(" info Background time remaining = 30.0 seconds\n"))
        #expect(log.contains(" info Background task ended.\n"))
        // The remaining task is ended at the stop.
        #expect(log.contains("Task \(strict) (test) ended after "))
    }

    @Test(arguments: [
        (["begin", "x", "--", "/no/such"], 1, "cannot start /no/such: no such command"),
        (["begin", "x", "--", "/etc/passwd"], 1, "cannot start /etc/passwd: permission denied; run `chmod +x`"),
        (["begin", "x", "--", "/etc"], 1, "cannot start /etc: it is a folder"),
        (["begin", "a\nb", "--", "true"], 64, "is not a valid task name"),
        (["begin", "x"], 64, "no command to run"), (["begin", "", "--", "true"], 64, "the name is empty"),
        (["begin", "x", "--budget", "601s", "--", "true"], 64, "the budget 601s is out of range"),
        (["begin", "x", "--budget", "0s", "--", "true"], 64, "the budget 0s is out of range"),
        (["begin", "x", "--grace", "180s", "--", "true"], 64, "the grace 3m is out of range"),
        (["begin", "x", "--budget", "soon", "--", "true"], 64, "\"soon\" is not a valid duration"),
        (["begin", "x", "--env", "1A=b", "--", "true"], 64, "\"1A=b\" is not NAME=VALUE"),
        (["begin", "x", "--env", "PATH", "--", "true"], 64, "\"PATH\" is not NAME=VALUE"),
        (["begin", "x", "--env", "BACKGROUNDER_TASK=1", "--", "true"], 64, "not beginning with BACKGROUNDER_"),
        (["begin", "x", "--on", "attach", "--", "true"], 64, "'attach'"), (["end", "77"], 4, "no task 77;"),
        (["log", "77"], 4, "no task 77;"), (["remaining", "77"], 4, "no task 77;"),
        (["unhook", "no/such hook"], 4, "no hook no/such hook;"), (["end", "x"], 64, "'x'"),
    ])
    func `a wrong task command is refused in one line`(arguments: [String], code: Int32, words: String) async throws {
        let service = try await Self.service()
        let run = try await service.command(["task"] + arguments)
        #expect(run.exitCode == code, "\(run)")
        #expect(run.text.isEmpty, "\(run)")
        #expect(run.errors.contains(words), "\(run)")
        #expect(run.errors.count { $0 == "\n" } == 1, "\(run)")
    }
}
