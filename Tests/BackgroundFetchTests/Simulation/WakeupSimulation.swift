import BackgroundFetch
import Foundation
import TestSupport

/// Sources with different intervals on a machine that also wakes for other reasons.
struct WakeupSimulation {
    /// Typical intervals in minutes, from a quarter of an hour to six hours.
    static let usual: [Double] = [15, 30, 30, 60, 60, 120, 120, 180, 240, 360]
    /// Intervals that rarely coincide.
    static let odd: [Double] = [15, 20, 30, 45, 60, 90, 120, 180, 240, 360]
    /// Each interval is 1.42 times as long as the one before.
    static let spread: [Double] = [15, 21, 30, 43, 62, 87, 124, 177, 252, 360]
    static let days = 84

    /// Wakeups for fetches alone, and runs, both a day.
    struct Result {
        var wakeups: Double
        var runs: Double
    }

    /// Simulates a separate timer for each source, each with a random start.
    static func naive(_ intervals: [Double], seed: UInt64) -> Result {
        var generator = SeededGenerator(seed: seed)
        var count = 0
        for interval in intervals {
            let first = generator.uniform(0, interval)
            count += Int((Double(days) * 1440 - first) / interval) + 1
        }
        return Result(wakeups: Double(count) / Double(days), runs: Double(count) / Double(days))
    }

    /// Simulates the service's windows and its coalescer; the machine is awake at `others` anyway.
    static func coalesced(_ intervals: [Double], seed: UInt64, riding others: [Date] = []) async -> Result {
        var generator = SeededGenerator(seed: seed)
        let start = FetchSimulation.start
        let end = start.addingTimeInterval(Double(days) * 86_400)
        var waiting = intervals.indices.map { index in
            let minutes = intervals[index]
            let began = start.addingTimeInterval(generator.uniform(-minutes, 0) * 60)
            return WaitingRun(
                source: "source \(index)",
                host: "\(index).example",
                window: FlexWindow(after: began, interval: minutes * 60),
                interval: minutes * 60
            )
        }
        var (wakeups, runs) = (0, 0)
        var rest = others[...]
        var now = start
        while let deadline = Coalescer.nextWakeup(waiting, from: now), deadline < end {
            // Lets other tests run.
            await Task.yield()
            now = deadline
            if let other = rest.first, other <= deadline {
                now = other
                rest.removeFirst()
            } else {
                wakeups += 1
            }
            // Runs are short, so each batch makes room for the next.
            while true {
                let batch = Coalescer.runs(waiting, at: now)
                guard !batch.isEmpty else { break }
                for run in batch {
                    guard let index = waiting.firstIndex(of: run) else { continue }
                    waiting[index].window = FlexWindow(after: now, interval: intervals[index] * 60)
                    runs += 1
                }
            }
        }
        return Result(wakeups: Double(wakeups) / Double(days), runs: Double(runs) / Double(days))
    }

    /// Other wakeups of a machine in a vehicle: two drives of 45 minutes a day with a fix every two minutes (the rest
    /// of the level `kilometer`), 6 attaches, 4 pushes and 4 ends of transfers.
    static func others(seed: UInt64) -> [Date] {
        var generator = SeededGenerator(seed: seed)
        var minutes: [Double] = []
        for day in 0..<days {
            let midnight = Double(day) * 1440
            for hour in [8.0, 17.5] {
                let drive = midnight + generator.normal(hour, minutes: 15) * 60
                minutes += (0..<23).map { drive + Double($0) * 2 }
            }
            for _ in 0..<14 { minutes.append(midnight + generator.uniform(7, 23) * 60) }
        }
        return minutes.sorted().map { FetchSimulation.start.addingTimeInterval($0 * 60) }
    }
}
