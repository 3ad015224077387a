import BackgrounderAPI
import Foundation
import Logging
import Synchronization
import TestSupport

@testable import BackgroundFetch

/// Runs the real scheduler through weeks of virtual time. The clock jumps to the next timer as soon as all work of the
/// previous one is done.
final class SchedulerSimulation: Sendable {
    private let clock: VirtualClock
    private let duration: Double
    private let ended = EndedRuns()
    private let ownWakeups = Mutex(0)
    let scheduler: FetchScheduler

    /// Seconds by which the clock passes each timer, more than the rounding error of a sum of fractions.
    private static let moment = 0.001

    /// Starts the simulation at ``FetchSimulation/start``.
    ///
    /// - Parameter duration: seconds that each fetch takes, less than its budget; each returns new data.
    init(duration: Double) async throws {
        let (clock, ended) = (VirtualClock(), ended)
        self.clock = clock
        self.duration = duration
        scheduler = FetchScheduler(
            SavedFetchState(),
            journal: MemoryFetchJournal(),
            origin: SlowOrigin(clock: clock, duration: duration),
            clock: clock,
            now: { FetchSimulation.start.addingTimeInterval(clock.seconds) },
            zone: .fixed(0),
            jitter: { $0 },
            logger: Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() },
            onEvent: { ended.take($0) }
        )
        try await scheduler.begin()
    }

    /// The completed runs, in the order of their ends.
    var runs: [FetchRun] { ended.runs.withLock { $0 } }

    /// How often the scheduler's own timer woke it up.
    var wakeups: Int { ownWakeups.withLock { $0 } }

    func add(_ name: String, _ interval: FetchInterval) async throws {
        let url = "http://\(name).example/"
        _ = try await scheduler.add(FetchDefinition(name: name, url: url, kind: .raw, interval: interval))
    }

    /// Advances the clock to `date` and lets every timer on the way fire.
    func advance(to date: Date) async throws {
        let end = date.timeIntervalSince(FetchSimulation.start)
        try await settle()
        while let next = clock.timers.first, next + Self.moment <= end {
            let (timer, running) = await scheduler.underWay
            clock.advance(to: next + Self.moment)
            // Ask the clock, because rounding may make a date equal to now while its sleeper still sleeps.
            let asleep = clock.timers
            if let timer, !sleeps(until: timer.at, asleep) {
                ownWakeups.withLock { $0 += 1 }
                await timer.task.value
            }
            for running in running where !sleeps(until: endTime(of: running), asleep) { _ = await running.task.value }
            try await settle()
        }
        clock.advance(to: end)
    }

    /// Simulates a wakeup for another reason.
    func ride() async throws {
        await scheduler.ride()?.value
        try await settle()
    }

    /// Simulates a client that attaches and detaches immediately.
    func attach() async throws {
        for isAnyoneAttached in [true, false] {
            await scheduler.apply(isAnyoneAttached: isAnyoneAttached, isDeclared: true)
        }
        try await settle()
    }

    /// Returns when the scheduler sleeps and each run sleeps both in its origin and for its budget.
    private func settle() async throws {
        try await clock.wait(for: "the scheduler's sleep") { timers in
            let (timer, running) = await scheduler.underWay
            // Compare the times too: a task not yet asleep would start its sleep from the next clock time.
            let awaited = (timer.map { [$0.at] } ?? []) + running.map { endTime(of: $0) }
            return timers.count == awaited.count + running.count && awaited.allSatisfy { sleeps(until: $0, timers) }
        }
    }

    private func endTime(of running: FetchScheduler.Running) -> Date { running.run.began.addingTimeInterval(duration) }

    private func sleeps(until date: Date, _ timers: [Double]) -> Bool {
        let time = date.timeIntervalSince(FetchSimulation.start)
        return timers.contains { abs($0 - time) < Self.moment / 2 }
    }
}

extension FetchScheduler {
    /// The armed timer and the runs in progress.
    fileprivate var underWay: (timer: (at: Date, task: Task<Void, Never>)?, running: [Running]) {
        (timer, Array(running.values))
    }
}

private final class EndedRuns: Sendable {
    let runs = Mutex<[FetchRun]>([])

    func take(_ event: FetchEvent) {
        if case .run(let run) = event, run.result != nil { runs.withLock { $0.append(run) } }
    }
}

/// Returns new bytes after `duration` seconds.
private struct SlowOrigin: FetchOrigin {
    let clock: VirtualClock
    let duration: Double

    func fetch(_ source: FetchDefinition, validators: FetchValidators?) async throws(FetchFailure) -> FetchReply {
        do {
            try await clock.sleep(until: clock.now.advanced(by: .seconds(duration)), tolerance: nil)
        } catch {
            throw FetchFailure("it was broken off", kind: .cancelled)
        }
        return FetchReply(.content(Data("\(clock.seconds)".utf8), mediaType: nil), status: 200, bytes: 1)
    }
}
