/// A queue for a section of an actor's code that awaits: one caller at a time, in order of arrival.
struct Turn {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Returns whether the caller has the turn; otherwise it must wait with ``enqueue(_:)``.
    mutating func take() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }

    mutating func enqueue(_ continuation: CheckedContinuation<Void, Never>) {
        waiting.append(continuation)
    }

    /// Ends the caller's turn and begins that of the next.
    mutating func pass() {
        if waiting.isEmpty {
            isTaken = false
        } else {
            waiting.removeFirst().resume()
        }
    }
}
