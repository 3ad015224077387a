/// The tuned constants of this mode.
enum TaskLimits {
    static let openTasks = 32
    /// Ended tasks that are kept.
    static let keptTasks = 100
    static let hooks = 32
    static let outputLimit = 1 << 20
    /// Bytes of a command with its arguments.
    static let commandLimit = 65_536
    /// The kernel's limit, including the terminating NUL.
    static let pathLimit = 4096
    /// The time between SIGTERM and SIGKILL when the service stops.
    static let stopGrace = Duration.seconds(1)
    /// The time after SIGKILL until a keeper is considered to hang.
    static let keeperPatience = Duration.seconds(6)
    /// The same while the service stops, which takes 2 s at most.
    static let stopPatience = Duration.milliseconds(400)
    /// The time until storing an end is retried.
    static let storeAgain = Duration.seconds(30)
    static let sampleInterval = Duration.milliseconds(500)
}
