import ChildProcesses
import SystemSupport

/// The work and the phase of an open task. Times are those of the monotonic clock.
struct OpenTask {
    enum Work {
        /// A command that has not started yet.
        case beginning
        case command(KeptProcess)
        /// The ticker, which is there as soon as the task is stored, publishes the numbers.
        case sample(Fibonacci, ticker: Task<Void, Never>?)
    }

    enum Phase {
        case running
        /// The task was asked to end, and is killed at this time.
        case expiring(kill: Duration)
        /// The task was killed; at this time its keeper is killed too.
        case killing(giveUp: Duration)
    }

    enum Reason {
        case budget
        /// A command, or the stop of the service.
        case request
    }

    var work: Work
    var budget: TaskBudget
    var phase = Phase.running
    /// Why the task was asked to end.
    var reason: Reason?
    var waiting: [CheckedContinuation<Void, Never>] = []

    var process: KeptProcess? { if case .command(let process) = work { process } else { nil } }

    /// When the task needs attention next.
    var due: Duration? {
        switch phase {
        case .running: if case .beginning = work { nil } else { budget.expiration }
        case .expiring(let kill): kill
        case .killing(let giveUp): giveUp
        }
    }

    /// The instructions for its keeper if this process dies.
    var lease: Lease {
        switch phase {
        case .running:
            if let expiration = budget.expiration, let end = budget.end {
                .until(term: expiration.nanoseconds, kill: end.nanoseconds)
            } else {
                .after(
                    term: (budget.limit - budget.usedBefore - budget.grace).nanoseconds,
                    kill: (budget.limit - budget.usedBefore).nanoseconds
                )
            }
        case .expiring(let kill): .until(term: kill.nanoseconds, kill: kill.nanoseconds)
        case .killing: .none
        }
    }

    /// Returns the rest of the budget at `time`; `nil` while it does not count.
    func remaining(at time: Duration) -> Duration? {
        switch phase {
        case .running: budget.countingSince == nil ? nil : budget.remaining(at: time)
        case .expiring(let kill): max(.zero, kill - time)
        case .killing: .zero
        }
    }
}
