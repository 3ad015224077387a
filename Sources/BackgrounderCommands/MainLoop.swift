import CExecutor
import SystemSupport

/// The default executor of the command: it runs tasks on the main thread.
///
/// A command mostly waits for one reply, and the threads of the runtime's pool take longer to start than that.
final class MainLoop: SerialExecutor {
    private static let loop = MainLoop()

    private let jobs = JobQueue()

    private init() {}

    /// Runs `main` in a task. Call it on the main thread, before any other task.
    static func run(_ main: @escaping @Sendable () async -> Never) -> Never {
        cexecutor_replace_default { job in
            MainLoop.loop.enqueue(ExecutorJob(unsafeBitCast(job, to: UnownedJob.self)))
        }
        Task.detached { await main() }
        loop.jobs.run()
        fatalError("nothing ends the loop")
    }

    func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job), for: self) }
}
