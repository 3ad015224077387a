/// The time budget of a task: its limit and how much is used. Times are those of the monotonic clock.
struct TaskBudget: Hashable, Sendable {
    let limit: Duration
    let grace: Duration
    private var spent: Duration
    /// Since when the budget counts; `nil` while it is on hold.
    private(set) var countingSince: Duration?

    init(limit: Duration, grace: Duration, used: Duration = .zero, countingSince: Duration? = nil) {
        (self.limit, self.grace) = (limit, grace)
        spent = used
        self.countingSince = countingSince
    }

    /// Returns the used part at `time`; ``usedBefore`` is the part that was used when it last began to count.
    func used(at time: Duration) -> Duration {
        spent + (countingSince.map { max(.zero, time - $0) } ?? .zero)
    }

    var usedBefore: Duration { spent }

    func remaining(at time: Duration) -> Duration { max(.zero, limit - used(at: time)) }

    mutating func count(from time: Duration) {
        if countingSince == nil { countingSince = time }
    }

    mutating func hold(at time: Duration) {
        spent = used(at: time)
        countingSince = nil
    }

    /// When the task is asked to end; `nil` while the budget is on hold.
    var expiration: Duration? { end.map { $0 - grace } }

    /// When the budget ends; `nil` while it is on hold.
    var end: Duration? { countingSince.map { $0 + limit - spent } }
}
