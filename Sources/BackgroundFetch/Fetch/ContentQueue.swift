import Dispatch

/// Where content is unpacked and read, one after the other: it takes milliseconds that no event loop has.
///
/// A serial queue, whose thread goes when there is nothing to do.
enum ContentQueue {
    private static let queue = DispatchQueue(label: "backgrounder.fetch.content")

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
