import BackgroundTasks
import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// Budgets, in time that passes when the test says so.
@Suite struct TaskBudgetTests {
    /// A task of code, with what its handler was told.
    private static func begin(_ rig: TaskRig, strict: Bool = false) async throws -> Int {
        try await rig.scheduler.beginBackgroundTask(
            "code",
            budget: .seconds(180),
            grace: .seconds(5),
            strict: strict
        ) { [log = rig.log] in log.note("handler") }
    }

    @Test func `The handler is called at the grace, and the end comes at the budget`() async throws {
        let clock = VirtualClock(.seconds(1000))
        let rig = try TaskRig(clock)
        let id = try await Self.begin(rig)
        #expect(try await rig.scheduler.backgroundTimeRemaining(id) == .seconds(180))
        try await clock.waitForSleeper(.seconds(175))
        clock.advance(by: .milliseconds(174_999))
        #expect(try await rig.scheduler.task(id).state == .running)
        #expect(try await rig.scheduler.backgroundTimeRemaining(id) == .milliseconds(5001))
        clock.advance(by: .milliseconds(1))
        try await rig.wait(for: .expiring, of: id)
        try await rig.log.wait(for: 1, with: "handler")
        try await clock.waitForSleeper(.seconds(5))
        clock.advance(by: .seconds(5))
        let over = try await rig.wait(for: .expired, of: id)
        #expect(over.used == 180 && over.remaining == nil)
        #expect(rig.log.messages.contains("Background time remaining = 5.0 seconds"))
        #expect(rig.log.messages.count { $0 == "Background task ended." } == 1)
        await #expect(throws: TaskError.over(id: id, state: .expired)) {
            try await rig.scheduler.endBackgroundTask(id)
        }
    }

    @Test func `Nothing counts while somebody is attached, unless it is strict`() async throws {
        let clock = VirtualClock(.seconds(1000))
        let rig = try TaskRig(clock)
        let (id, strict) = (try await Self.begin(rig), try await Self.begin(rig, strict: true))
        clock.advance(by: .seconds(10))
        await rig.scheduler.apply(isAnyoneAttached: true)
        #expect(try await rig.scheduler.backgroundTimeRemaining(id) == nil)
        #expect(try await rig.scheduler.backgroundTimeRemaining(strict) == .seconds(170))
        clock.advance(by: .seconds(150))
        let held = try await rig.scheduler.task(id)
        #expect(held.used == 10 && held.remaining == nil)
        await rig.scheduler.apply(isAnyoneAttached: false)
        try await clock.waitForSleeper(.seconds(15))
        clock.advance(by: .seconds(15))
        try await rig.wait(for: .expiring, of: strict)
        #expect(try await rig.scheduler.task(id).remaining == 155)
        #expect(rig.journal.saved.records.first { $0.task.id == id }?.used == .seconds(10))
        try await rig.scheduler.endBackgroundTask(id)
        #expect(try await rig.scheduler.task(id).state == .ended)
    }

    @Test func `Each begin needs its own end, and a second end of one is an error`() async throws {
        let rig = try TaskRig(VirtualClock(.seconds(1000)))
        let (first, second) = (try await Self.begin(rig), try await Self.begin(rig))
        #expect(first != second)
        try await rig.scheduler.endBackgroundTask(first)
        #expect(await rig.scheduler.openTasks().map(\.id) == [second])
        await #expect(throws: TaskError.over(id: first, state: .ended)) {
            try await rig.scheduler.endBackgroundTask(first)
        }
        await #expect(throws: TaskError.noSuchTask(id: 99)) { try await rig.scheduler.endBackgroundTask(99) }
        await #expect(throws: TaskError.noSuchTask(id: 99)) { _ = try await rig.scheduler.output(99) }
    }

    @Test func `Thirty-two are open at once, and a hundred of those that are over are kept`() async throws {
        let rig = try TaskRig(VirtualClock(.seconds(1000)))
        var ids: [Int] = []
        for _ in 0..<32 { ids.append(try await Self.begin(rig)) }
        await #expect(throws: TaskError.tooMany(limit: 32)) { _ = try await Self.begin(rig) }
        for _ in 0..<90 {
            try await rig.scheduler.endBackgroundTask(ids.removeFirst())
            ids.append(try await Self.begin(rig))
        }
        for id in ids { try await rig.scheduler.endBackgroundTask(id) }
        #expect(await rig.scheduler.tasks().map(\.id) == Array(23...122))
        #expect(rig.journal.saved.records.map(\.task.id) == Array(23...122))
        #expect(await !rig.scheduler.isAtWork)
    }

    @Test func `What began first and ends last is still known`() async throws {
        let rig = try TaskRig(VirtualClock(.seconds(1000)))
        let first = try await Self.begin(rig)
        for _ in 0..<100 {
            let other = try await Self.begin(rig)
            try await rig.scheduler.endBackgroundTask(other)
        }
        #expect(try await rig.scheduler.end(first).state == .ended)
        #expect(await rig.scheduler.tasks().map(\.id) == [first] + Array(first + 2...first + 100))
    }

    private static let wrongTimes: [(Double?, Double?)] = [
        (0, nil), (-1, nil), (601, nil), (10, 10), (10, 0), (10, 11), (nil, 180), (1e300, nil), (10, -1e300),
        (1e-12, nil), (2e-9, nil), (10, 1e-9),
    ]

    @Test(arguments: wrongTimes)
    func `Times that cannot be are refused`(budget: Double?, grace: Double?) async throws {
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
    func `Names and commands that cannot be are refused`(_ request: TaskRequest) async throws {
        let rig = try TaskRig(VirtualClock(.seconds(1000)))
        await #expect(throws: TaskError.self) { _ = try await rig.scheduler.begin(request) }
        await #expect(throws: TaskError.self) { _ = try await rig.scheduler.addHook(request) }
        #expect(rig.journal.saved.records.isEmpty && rig.journal.saved.hooks.isEmpty)
    }
}

/// The sample, in such time too.
@Suite struct TaskSampleTests {
    @Test func `It counts twice a second, says so in the log, and goes on where it was after a return`() async throws {
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
        try await rig.waitForChange("a number for who is attached") {
            await rig.scheduler.openTasks().first?.detail == "\(Fibonacci(position: position + 1))"
        }
        // It is shown, and not logged, while somebody looks.
        #expect(rig.log.messages.count { $0.hasPrefix("App is backgrounded.") } == position - 1)
        #expect(try await rig.scheduler.task(id).repeat == false)
        #expect(try await rig.scheduler.task(id + 1).repeat)
        // Only a new start resets it.
        #expect(try await rig.scheduler.beginSample().detail == "Position 1 = 1")
    }
}
