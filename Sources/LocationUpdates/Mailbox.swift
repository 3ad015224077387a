import Synchronization

/// Batches on their way from the sources' threads to the manager, which is woken where it awaits them: an `AsyncStream` takes a
/// detour over the pool. One reader.
final class Mailbox: Sendable {
    private struct State {
        var batches: [SourceBatch] = []
        var reader: CheckedContinuation<SourceBatch?, Never>?
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Any thread.
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

    /// Resumes `reader` with the next batch; with `nil` once the mailbox is finished.
    ///
    /// The reader suspends itself, as an asynchronous method of this class would resume on the pool first.
    func next(_ reader: CheckedContinuation<SourceBatch?, Never>) {
        let answer: SourceBatch?? = state.withLock { state in
            if state.isFinished { return .some(nil) }
            if !state.batches.isEmpty { return state.batches.removeFirst() }
            state.reader = reader
            return nil
        }
        if let answer { reader.resume(returning: answer) }
    }

    /// Drops what was not taken yet: a source that is always ahead would hold the end up until its own. Any thread.
    func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            state.batches = []
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }
}
