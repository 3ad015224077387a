/// The background time of a task: how much it has, and how much of it is gone. Times are those of the monotonic clock.
struct TaskBudget: Hashable, Sendable {
    let limit: Duration
    let grace: Duration
    private var spent: Duration
    /// Since when it counts; `nil` while it is held.
    private(set) var countingSince: Duration?

    init(limit: Duration, grace: Duration, used: Duration = .zero, countingSince: Duration? = nil) {
        (self.limit, self.grace) = (limit, grace)
        spent = used
        self.countingSince = countingSince
    }

    /// What is gone at `time`, and how much of that had gone when it began to count last.
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

    /// When the task is asked to end; `nil` while nothing counts.
    var expiration: Duration? { end.map { $0 - grace } }

    /// When it is over; `nil` while nothing counts.
    var end: Duration? { countingSince.map { $0 + limit - spent } }
}
