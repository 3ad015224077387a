import Synchronization
package import Testing

/// Runs a test that measures real time up to three times, until it passes.
///
/// A virtual machine may stand still for longer than any buffer of sound, and no test can tell that from a fault of the code. A fault
/// that does not depend on the machine fails all three runs. The failures before the last run are printed as known issues.
package struct RealTimeTrait: SuiteTrait, TestTrait, TestScoping {
    private static let runs = 3

    package var isRecursive: Bool { true }

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        for run in 1..<Self.runs {
            let hasFailed = Mutex(false)
            try await withKnownIssue("run \(run) of \(Self.runs)", isIntermittent: true) {
                try await function()
            } matching: { _ in
                hasFailed.withLock { $0 = true }
                return true
            }
            if !hasFailed.withLock(\.self) { return }
        }
        try await function()
    }
}

extension Trait where Self == RealTimeTrait {
    /// Repeats a test that fails, since the machine may have stood still.
    package static var inRealTime: Self { Self() }
}
