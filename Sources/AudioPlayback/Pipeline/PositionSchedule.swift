import BackgrounderAPI
import SystemSupport

/// The work of one wakeup of the position thread.
struct PositionWork {
    var position: PlayerPosition?
    var calls: [() -> Void] = []

    fileprivate var isEmpty: Bool { position == nil && calls.isEmpty }
}

/// The item in the stored state, the job that plays it, and the number of that state. Positions of other jobs are not
/// stored.
struct PositionTarget {
    var token: Int
    let item: PlayerItem
    let generation: Int
}

/// The position that is heard now.
struct HeardPosition {
    let token: Int
    let elapsed: Double
    /// Whether it advances by itself.
    let isAdvancing: Bool
    /// Whether it is that of a file, which runs many times faster than real time.
    let isFile: Bool
}

/// Decides when the position is stored, and when the watchers of the time are notified.
struct PositionSchedule {
    private struct Watch {
        let id: Int
        let interval: Double
        let body: @Sendable (PlayerItem, Double) -> Void
        /// The time in the item of the next notification.
        var due: Double
    }

    /// Tuned: the seconds of position that a kill may lose.
    private static let saveInterval = 0.5
    /// The least time between two writes, in nanoseconds: a file device runs many times faster than real time.
    private static let shortestSave: Int64 = 450_000_000
    private static let mostJumps = 16

    private var target: PositionTarget?
    private var watches: [Watch] = []
    private var nextWatch = 0
    /// Jumps that the watchers have not been told about.
    private var jumps: [(item: PlayerItem, elapsed: Double)] = []
    /// The job and its seconds at the last wakeup.
    private var seen: (token: Int, elapsed: Double) = (-1, 0)
    private var nextSave = 0.0
    private var savedAt: Int64 = 0
    /// The thread waits until the sound resumes.
    private(set) var isResting = false

    // MARK: The thread's side

    /// Returns the work that is due, or when the next will be. `heard` is nil while the player does not play.
    mutating func next(_ heard: HeardPosition?, now: Int64) -> WaitStep<PositionWork?> {
        var work = PositionWork()
        for jump in jumps {
            for watch in watches { work.calls.append { watch.body(jump.item, jump.elapsed) } }
        }
        jumps = []
        let wait = heard.flatMap { addWork($0, now, &work) }
        isResting = work.isEmpty && wait == nil
        return work.isEmpty ? .wait(until: wait) : .done(work)
    }

    /// Adds the work that is due, or returns when the next will be; nil while nothing is heard.
    private mutating func addWork(_ heard: HeardPosition, _ now: Int64, _ work: inout PositionWork) -> Int64? {
        guard let target, heard.token == target.token else { return nil }
        let elapsed = heard.elapsed
        let before = seen
        seen = (heard.token, elapsed)
        if before.token != heard.token || elapsed < before.elapsed {
            nextSave = Self.next(after: elapsed, every: Self.saveInterval)
            setWatches(after: elapsed)
        } else if elapsed == before.elapsed, !heard.isAdvancing {
            // The next sound handed to the device ends the rest.
            return nil
        }
        // One millisecond of tolerance: timers fire slightly early, and every interval is longer.
        if elapsed >= nextSave - 0.001, now - savedAt >= Self.shortestSave {
            nextSave = Self.next(after: elapsed, every: Self.saveInterval)
            savedAt = now
            work.position = PlayerPosition(generation: target.generation, itemID: target.item.id, elapsed: elapsed)
        }
        var due = nextSave
        for index in watches.indices where !heard.isFile {
            let watch = watches[index]
            if elapsed >= watch.due - 0.001 {
                watches[index].due = Self.next(after: elapsed, every: watch.interval)
                work.calls.append { watch.body(target.item, elapsed) }
            }
            due = min(due, watches[index].due)
        }
        let isLimited = heard.isFile || due <= elapsed
        return max(now + Int64((due - elapsed) * 1e9), isLimited ? savedAt + Self.shortestSave : 0)
    }

    private mutating func setWatches(after elapsed: Double) {
        for index in watches.indices {
            watches[index].due = Self.next(after: elapsed, every: watches[index].interval)
        }
    }

    /// Returns the first multiple of `interval` after `elapsed`.
    static func next(after elapsed: Double, every interval: Double) -> Double {
        (((elapsed + 0.001) / interval).rounded(.down) + 1) * interval
    }

    // MARK: The player's side

    mutating func setTarget(_ target: PositionTarget?) { self.target = target }

    /// Continues with `job`, which plays the same item from elsewhere or on another device.
    mutating func follow(_ job: DecodingJob?) {
        if let job, job.itemID == target?.item.id { target?.token = job.token }
    }

    /// Tells the watchers about a jump. Returns false if there are none.
    mutating func jump(in item: PlayerItem, to elapsed: Double) -> Bool {
        guard !watches.isEmpty else { return false }
        jumps = jumps.suffix(Self.mostJumps - 1) + [(item, elapsed)]
        setWatches(after: elapsed)
        return true
    }

    mutating func addWatch(
        every interval: Double,
        at elapsed: Double,
        _ body: @escaping @Sendable (PlayerItem, Double) -> Void
    ) -> Int {
        nextWatch += 1
        let due = Self.next(after: elapsed, every: interval)
        watches.append(Watch(id: nextWatch, interval: interval, body: body, due: due))
        return nextWatch
    }

    mutating func removeWatch(_ id: Int) { watches.removeAll { $0.id == id } }
}
