/// The threads of a pipeline: one working thread of each kind, and those that were abandoned because they hang.
///
/// A thread knows its number. Once it is abandoned, its number is no longer the current one, and it ends as soon as it
/// returns.
struct ThreadSlots {
    private struct Slot {
        /// The number of the working thread, or of the next one.
        var number = 0
        var isRunning = false
        /// Abandoned threads that still hang.
        var stuck = 0
    }

    /// The result of starting a thread.
    enum Start {
        /// A thread works, this one or an earlier one.
        case works
        case tooManyStuck
        /// The system has no thread.
        case noThread
    }

    enum Claim {
        /// The caller starts the thread with this number.
        case claimed(Int)
        case refused(Start)
    }

    private var slots = [Slot](repeating: Slot(), count: PipelineThread.allCases.count)

    /// Whether the thread with `number` was not abandoned.
    func isCurrent(_ number: Int, _ thread: PipelineThread) -> Bool { slots[thread.rawValue].number == number }

    func isRunning(_ thread: PipelineThread) -> Bool { slots[thread.rawValue].isRunning }

    /// The abandoned threads that still hang.
    func stuck(_ thread: PipelineThread) -> Int { slots[thread.rawValue].stuck }

    /// Claims the slot for a new thread, unless one works or `limit` threads hang.
    mutating func claim(_ thread: PipelineThread, limit: Int) -> Claim {
        let slot = slots[thread.rawValue]
        if slot.isRunning { return .refused(.works) }
        if slot.stuck >= limit { return .refused(.tooManyStuck) }
        slots[thread.rawValue].isRunning = true
        return .claimed(slot.number)
    }

    /// The working thread has ended or could not be started.
    mutating func end(_ thread: PipelineThread) { slots[thread.rawValue].isRunning = false }

    /// Abandons the working thread, because it hangs.
    mutating func abandon(_ thread: PipelineThread) {
        slots[thread.rawValue].number += 1
        slots[thread.rawValue].isRunning = false
        slots[thread.rawValue].stuck += 1
    }

    /// An abandoned thread has returned.
    mutating func returned(_ thread: PipelineThread) { slots[thread.rawValue].stuck -= 1 }
}
