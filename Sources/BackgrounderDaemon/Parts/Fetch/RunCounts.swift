import BackgrounderAPI
import Synchronization

/// The numbers of runs that ended since the start of the service, by source and result. Any thread.
final class RunCounts: Sendable {
    private let counts = Mutex<[String: [FetchResult: Int]]>([:])

    /// Counts `run` if it has ended.
    func count(_ run: FetchRun) {
        guard let result = run.result else { return }
        counts.withLock { $0[run.source, default: [:]][result, default: 0] += 1 }
    }

    /// Returns the numbers of `sources`, zeros included, and forgets those of other sources.
    func samples(of sources: [String]) -> [MetricsText.Sample] {
        let counts = counts.withLock { counts in
            counts = counts.filter { sources.contains($0.key) }
            return counts
        }
        return sources.flatMap { source in
            FetchResult.allCases.map { .init(["source": source, "result": $0.rawValue], counts[source]?[$0] ?? 0) }
        }
    }
}
