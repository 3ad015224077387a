import BackgrounderAPI
import ChildProcesses

/// What an open task does, and what is to become of it. Times are those of the monotonic clock.
struct OpenTask {
    enum Work {
        /// A command that has not started yet.
        case beginning
        case command(KeptProcess)
        /// Code of this process, with its expiration handler.
        case code(@Sendable () async -> Void)
        case sample(Fibonacci, ticker: Task<Void, Never>)
    }

    enum Phase {
        case running
        /// Asked to end, and killed at that time.
        case expiring(kill: Duration)
        /// Killed; at that time its keeper is killed too.
        case killing(giveUp: Duration)
    }

    enum Reason {
        case budget
        /// `end`, or the service's own.
        case request
    }

    var work: Work
    var budget: TaskBudget
    var phase = Phase.running
    /// Why it was asked to end.
    var reason: Reason?
    var waiting: [CheckedContinuation<Void, Never>] = []

    var process: KeptProcess? { if case .command(let process) = work { process } else { nil } }

    /// When something is to be done for it.
    var due: Duration? {
        switch phase {
        case .running: if case .beginning = work { nil } else { budget.expiration }
        case .expiring(let kill): kill
        case .killing(let giveUp): giveUp
        }
    }

    /// What its keeper does once this process is gone.
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

    /// What is left at `time`; `nil` while nothing counts.
    func remaining(at time: Duration) -> Duration? {
        switch phase {
        case .running: budget.countingSince == nil ? nil : budget.remaining(at: time)
        case .expiring(let kill): max(.zero, kill - time)
        case .killing: .zero
        }
    }
}

/// The numbers of this mode that are judgement and not law, in one place.
enum TaskJudgement {
    static let openTasks = 32
    /// Of those that are over.
    static let keptTasks = 100
    static let hooks = 32
    static let outputLimit = 1 << 20
    /// Bytes of a command with its arguments.
    static let commandLimit = 65_536
    /// The kernel's, with the NUL at its end.
    static let pathLimit = 4096
    /// After SIGTERM, when the service stops.
    static let stopGrace = Duration.seconds(1)
    /// After SIGKILL, until its keeper is taken for one that hangs.
    static let keeperPatience = Duration.seconds(6)
    /// The same while the service stops, which takes 2 s as a whole.
    static let stopPatience = Duration.milliseconds(400)
    /// After an end could not be stored.
    static let storeAgain = Duration.seconds(30)
    static let sampleInterval = Duration.milliseconds(500)
}
