import Dispatch

/// A serial queue that decompresses and parses content, which takes too long for an event loop.
///
/// It has no thread while it is idle.
enum ContentQueue {
    private static let queue = DispatchQueue(label: "backgrounder.fetch.content")

    /// Runs `body` on the queue and returns its result.
    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(FetchFailure) -> Value
    ) async -> Result<Value, FetchFailure> {
        await withCheckedContinuation { continuation in
            queue.async {
                do throws(FetchFailure) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
    }
}
