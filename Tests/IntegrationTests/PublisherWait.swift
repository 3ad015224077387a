import BackgrounderAPI
import Testing

extension Service {
    /// Returns the status of the publisher `office`.
    func publisher() async throws -> PublisherStatus { try await json("publish", "show", "office") }

    /// Returns once the status of the publisher `office` is as wanted, and records an issue if that takes too long.
    func wait(forPublisher what: String, _ isThere: (PublisherStatus) -> Bool) async throws {
        var last: PublisherStatus?
        // Tuned: for a busy machine.
        for _ in 0..<300 {
            let status = try await publisher()
            if isThere(status) { return }
            last = status
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("\(what): \(String(describing: last))")
    }
}
