import BackgroundTasks
import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Budgets of real commands on a virtual clock.
@Suite struct TaskBudgetTests {
    /// Starts at the real time, because the leases of keepers, which read the real clock, must end in the future.
    private let clock = VirtualClock(MonotonicTime.now.sinceStart)

    @Test func `a task is asked to end when only its grace is left, and is killed when its budget ends`()
        async throws
    {
        let rig = try TaskRig(clock)
        let asked = try NamedPipe(rig.scratch.file("asked"))
        let task = try await rig.beginStanding(budget: 180, grace: 5) { pipe in
            "trap 'echo asked >\(asked.path)' TERM; echo stands >\(pipe); while :; do sleep 0.05; done"
        }
        let id = task.id
        #expect(task.remaining == 180)
        try await clock.waitForSleeper(.seconds(175))
        clock.advance(by: .milliseconds(174_999))
        #expect(try await rig.scheduler.task(id).state == .running)
        #expect(try await rig.scheduler.task(id).remaining == 5.001)
        clock.advance(by: .milliseconds(1))
        try await rig.wait(for: .expiring, of: id)
        _ = try await asked.reader.wait(for: "signal") { lines, _ in lines.first }
        try await clock.waitForSleeper(.seconds(5))
        clock.advance(by: .seconds(5))
        let over = try await rig.wait(for: .expired, of: id)
        #expect(over.remaining == nil)
        #expect(over.exitStatus == 128 + SIGKILL)
        #expect(rig.log.messages.contains("Background time remaining = 5.0 seconds"))
        #expect(rig.log.messages.count { $0 == "Background task ended." } == 1)
        await #expect(throws: TaskError.over(id: id, state: .expired)) { try await rig.scheduler.end(id) }
    }

    @Test func `an end that cannot be stored is stored as soon as a retry succeeds`() async throws {
        let rig = try TaskRig(clock)
        let id = try await rig.begin("sleep 100", budget: 180, grace: 5).id
        rig.journal.refusesSaves = true
        let ended = try await rig.scheduler.end(id)
        #expect(ended.state == .ended)
        #expect(ended.detail == "the end is not stored, so it is lost at a restart")
        for _ in 0..<2 {
            try await clock.waitForSleeper(.seconds(30))
            clock.advance(by: .seconds(30))
        }
        try await clock.waitForSleeper(.seconds(30))
        #expect(try await rig.scheduler.task(id).detail != nil)
        rig.journal.refusesSaves = false
        clock.advance(by: .seconds(30))
        try await rig.waitForChange("the stored end") { (try? await rig.scheduler.task(id).detail) == .some(nil) }
        #expect(rig.journal.saved.records.first?.task.state == .ended)
        try await clock.waitForNoTimer()
    }

    @Test func `only a strict budget counts while a client is attached`() async throws {
        let rig = try TaskRig(clock)
        let id = try await rig.begin("sleep 100", budget: 180, grace: 5).id
        let strict = try await rig.begin("sleep 100", budget: 180, grace: 5, strict: true).id
        clock.advance(by: .seconds(10))
        await rig.scheduler.apply(isAnyoneAttached: true)
        #expect(try await rig.scheduler.task(id).remaining == nil)
        #expect(try await rig.scheduler.task(strict).remaining == 170)
        clock.advance(by: .seconds(150))
        let held = try await rig.scheduler.task(id)
        #expect(held.used == 10)
        #expect(held.remaining == nil)
        await rig.scheduler.apply(isAnyoneAttached: false)
        try await clock.waitForSleeper(.seconds(15))
        clock.advance(by: .seconds(15))
        try await rig.wait(for: .expiring, of: strict)
        #expect(try await rig.scheduler.task(id).remaining == 155)
        #expect(rig.journal.saved.records.first { $0.task.id == id }?.used == .seconds(10))
        #expect(try await rig.scheduler.end(id).state == .ended)
    }

    @Test func `ending a task leaves others open, and ending it again is an error`() async throws {
        let rig = try TaskRig(clock)
        let first = try await rig.scheduler.beginSample().id
        let second = try await rig.scheduler.beginSample().id
        #expect(first != second)
        _ = try await rig.scheduler.end(first)
        #expect(await rig.scheduler.openTasks().map(\.id) == [second])
        await #expect(throws: TaskError.over(id: first, state: .ended)) { try await rig.scheduler.end(first) }
        await #expect(throws: TaskError.noSuchTask(id: 99)) { try await rig.scheduler.end(99) }
        await #expect(throws: TaskError.noSuchTask(id: 99)) { _ = try await rig.scheduler.output(99) }
    }

    @Test func `at most 32 tasks are open, and the last 100 that ended are kept`() async throws {
        let rig = try TaskRig(clock)
        var ids: [Int] = []
        for _ in 0..<32 { ids.append(try await rig.scheduler.beginSample().id) }
        await #expect(throws: TaskError.tooMany(limit: 32)) { try await rig.scheduler.beginSample() }
        for _ in 0..<90 {
            _ = try await rig.scheduler.end(ids.removeFirst())
            ids.append(try await rig.scheduler.beginSample().id)
        }
        for id in ids { _ = try await rig.scheduler.end(id) }
        #expect(await rig.scheduler.tasks().map(\.id) == Array(23...122))
        #expect(rig.journal.saved.records.map(\.task.id) == Array(23...122))
        #expect(await !rig.scheduler.isAtWork)
    }

    @Test func `the task that began first and ended last is kept`() async throws {
        let rig = try TaskRig(clock)
        let first = try await rig.scheduler.beginSample().id
        for _ in 0..<100 {
            let other = try await rig.scheduler.beginSample().id
            _ = try await rig.scheduler.end(other)
        }
        #expect(try await rig.scheduler.end(first).state == .ended)
        #expect(await rig.scheduler.tasks().map(\.id) == [first] + Array(first + 2...first + 100))
    }

    private static let wrongTimes: [(Double?, Double?)] = [
        (0, nil), (-1, nil), (601, nil), (10, 10), (10, 0), (10, 11), (nil, 180), (1e300, nil), (10, -1e300),
        (1e-12, nil), (2e-9, nil), (10, 1e-9),
    ]

    @Test(arguments: wrongTimes)
    func `invalid budgets and grace times are refused`(budget: Double?, grace: Double?) async throws {
        let rig = try TaskRig(VirtualClock(.seconds(1000)))
        await #expect(throws: TaskError.self) { _ = try await rig.begin("true", budget: budget, grace: grace) }
        await #expect(throws: TaskError.self) { _ = try await rig.scheduler.beginSample(budget: budget, grace: grace) }
        #expect(rig.journal.saved.records.isEmpty)
    }

    @Test(arguments: [
        TaskRequest(name: "", command: ["true"]), TaskRequest(name: "a\u{1B}[2J", command: ["true"]),
        TaskRequest(name: String(repeating: "a", count: 101), command: ["true"]), TaskRequest(name: "a", command: []),
        TaskRequest(name: "a", command: [""]), TaskRequest(name: "a", command: ["true", "a\0b"]),
        TaskRequest(name: "a" + String(repeating: "\u{301}", count: 300), command: ["true"]),
        TaskRequest(name: "a", command: ["true"], directory: "relative"),
        TaskRequest(name: "a", command: ["true"], directory: "/" + String(repeating: "a", count: 4095)),
        TaskRequest(name: "a", command: ["true", String(repeating: "a", count: 65_536)]),
    ])
    func `invalid names and commands are refused`(_ request: TaskRequest) async throws {
        let rig = try TaskRig(VirtualClock(.seconds(1000)))
        await #expect(throws: TaskError.self) { _ = try await rig.scheduler.begin(request) }
        await #expect(throws: TaskError.self) { _ = try await rig.scheduler.addHook(request) }
        #expect(rig.journal.saved.records.isEmpty)
        #expect(rig.journal.saved.hooks.isEmpty)
    }
}

/// The sample task in virtual time.
@Suite struct TaskSampleTests {
    @Test func `the sample counts twice a second, logs each number and continues when a client returns`() async throws {
        let clock = VirtualClock(.seconds(1000))
        let rig = try TaskRig(clock)
        let id = try await rig.scheduler.beginSample(budget: 10, grace: 8).id
        try await clock.waitForSleeper(.seconds(2))
        for tick in 1...3 {
            try await clock.waitForSleeper(.milliseconds(500))
            clock.advance(by: .milliseconds(500))
            try await rig.log.wait(for: tick, with: "Background time remaining")
        }
        let said = rig.log.messages.filter { !$0.hasPrefix("Task") }
        #expect(
            said == [
                "App is backgrounded. Next number = Position 2 = 2", "Background time remaining = 9.5 seconds",
                "App is backgrounded. Next number = Position 3 = 3", "Background time remaining = 9.0 seconds",
                "App is backgrounded. Next number = Position 4 = 5", "Background time remaining = 8.5 seconds",
            ]
        )
        try await clock.waitForSleeper(.milliseconds(500))
        clock.advance(by: .milliseconds(500))
        try await rig.wait(for: .expired, of: id)
        try await rig.log.wait(for: 1, with: "Background task ended.")
        let position = try #require(rig.journal.saved.records.first?.position)

        await rig.scheduler.apply(isAnyoneAttached: true)
        try await rig.wait(for: .running, of: id + 1)
        try await clock.waitForSleeper(.milliseconds(500))
        clock.advance(by: .milliseconds(500))
        try await rig.waitForChange("the next number") {
            await rig.scheduler.openTasks().first?.detail == "\(Fibonacci(position: position + 1))"
        }
        // While a client is attached, numbers are shown but not logged.
        #expect(rig.log.messages.count { $0.hasPrefix("App is backgrounded.") } == position - 1)
        #expect(try await rig.scheduler.task(id).repeat == false)
        #expect(try await rig.scheduler.task(id + 1).repeat)
        // Only a new start resets it.
        #expect(try await rig.scheduler.beginSample().detail == "Position 1 = 1")
    }
}
