import Dispatch
import Foundation
import Synchronization
package import Testing

/// Runs tests that compute for seconds one at a time, on a thread with a low priority.
///
/// On the cooperative pool, which has a thread per core, they would delay parallel tests that measure time. Where no test
/// does, `COMPUTING_THREADS=2` makes use of more cores.
package struct ComputingTrait: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ComputingThreads.shared) { try await function() }
    }
}

extension Trait where Self == ComputingTrait {
    package static var computing: Self { Self() }
}

/// Runs a long computation of a test on the thread of the computing tests.
package func computing<Value: Sendable>(_ body: @Sendable () throws -> Value) async rethrows -> Value {
    try await withTaskExecutorPreference(ComputingThreads.shared) { try body() }
}

private final class ComputingThreads: TaskExecutor {
    static let shared = ComputingThreads()

    private let jobs = Mutex<[UnownedJob]>([])
    private let count = DispatchSemaphore(value: 0)

    private init() {
        for _ in 0..<(Int(ProcessInfo.processInfo.environment["COMPUTING_THREADS"] ?? "") ?? 1) {
            Thread.detachNewThread { [self] in
                setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 5)
                while true {
                    count.wait()
                    jobs.withLock { $0.removeFirst() }.runSynchronously(on: asUnownedTaskExecutor())
                }
            }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        count.signal()
    }
}
