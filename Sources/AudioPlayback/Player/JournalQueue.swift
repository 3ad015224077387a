import BackgrounderAPI

/// The pending writes of the journal, the events to send after them, and the result of the last write.
struct JournalQueue {
    enum Content {
        case state
        /// Changes of the queue, and whether the state changed with them.
        case changes([QueueChange], isStateNew: Bool)
        /// A write failed, so the changes of the queue are no longer known.
        case wholeQueue
    }

    /// The changes that are not written yet, besides those of the queue since the last batch.
    private enum Pending { case nothing, state, wholeQueue }

    /// A failure of the journal, with the time of the next retry.
    private struct Failure {
        /// Why the last write failed, in one line.
        var reason: String
        var delay = Duration.seconds(1)
        var retry: Task<Void, Never>?
    }

    /// The number of the state last passed to the journal.
    private(set) var generation: Int
    /// The newest write; its value is why it failed, or nil.
    private(set) var last: Task<String?, Never>?
    private var pending = Pending.nothing
    private var events: [PlayerEvent] = []
    private var failure: Failure?

    init(generation: Int) { self.generation = generation }

    mutating func changeState() { if pending == .nothing { pending = .state } }

    mutating func send(_ event: PlayerEvent) { events.append(event) }

    /// Has `start` start a task that writes after the write that it is passed, and returns the task.
    mutating func append(_ start: (_ previous: Task<String?, Never>?) -> Task<String?, Never>) -> Task<String?, Never> {
        let write = start(last)
        last = write
        return write
    }

    /// Returns what to write, given the changes of the queue since the last call, and the events to send after that.
    mutating func takeBatch(_ changes: [QueueChange]) -> (content: Content?, events: [PlayerEvent]) {
        defer { (pending, events) = (.nothing, []) }
        switch pending {
        case .wholeQueue: return (.wholeQueue, events)
        case .state: return (changes.isEmpty ? .state : .changes(changes, isStateNew: true), events)
        case .nothing: return (changes.isEmpty ? nil : .changes(changes, isStateNew: false), events)
        }
    }

    mutating func nextGeneration() -> Int {
        generation += 1
        return generation
    }

    // MARK: Failures

    /// Why the last write failed; nil if it succeeded.
    var failureReason: String? { failure?.reason }

    /// The journal works. Returns whether the write before had failed.
    mutating func succeeded() -> Bool {
        defer { failure = nil }
        failure?.retry?.cancel()
        return failure != nil
    }

    /// Adds a failed write to the pending ones.
    mutating func failed(_ content: Content?, _ reason: String) {
        switch content {
        case nil: break
        case .state: changeState()
        case .changes, .wholeQueue: pending = .wholeQueue
        }
        if failure == nil { failure = Failure(reason: reason) } else { failure?.reason = reason }
    }

    /// Has `start` start a task that retries after the delay that it is passed, unless there is one.
    mutating func startRetry(_ start: (Duration) -> Task<Void, Never>) {
        guard let delay = failure?.delay, failure?.retry == nil else { return }
        failure?.delay = min(delay * 2, .seconds(30))  // Tuned: a full disk is noticed soon after it has room again
        failure?.retry = start(delay)
    }

    /// The wait for the retry is over.
    mutating func retryStarted() { failure?.retry = nil }

    mutating func cancelRetry() { failure?.retry?.cancel() }
}
