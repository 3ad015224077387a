import Synchronization

/// A queue of batches from the sources' threads to the manager. It has one reader.
///
/// It resumes the reader on the reader's own executor; an `AsyncStream` would resume on the pool first.
final class Mailbox: Sendable {
    private struct State {
        var batches: [SourceBatch] = []
        var reader: CheckedContinuation<SourceBatch?, Never>?
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Appends a batch or hands it to the waiting reader. Any thread.
    func send(_ batch: SourceBatch) {
        let reader = state.withLock { state in
            guard let reader = state.reader.take() else {
                if !state.isFinished { state.batches.append(batch) }
                return nil as CheckedContinuation<SourceBatch?, Never>?
            }
            return reader
        }
        reader?.resume(returning: batch)
    }

    /// Resumes `reader` with the next batch, or with `nil` once the mailbox is finished.
    ///
    /// The reader suspends itself because an asynchronous method of this class would resume on the pool first.
    func next(_ reader: CheckedContinuation<SourceBatch?, Never>) {
        let answer: SourceBatch?? = state.withLock { state in
            if state.isFinished { return .some(nil) }
            if !state.batches.isEmpty { return state.batches.removeFirst() }
            state.reader = reader
            return nil
        }
        if let answer { reader.resume(returning: answer) }
    }

    /// Ends the queue and drops waiting batches, which a fast source would otherwise refill for ever. Any thread.
    func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            state.batches = []
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }
}
