/// Lets one caller at a time through a stretch of an actor's code that awaits, in the order of arrival.
struct Turn {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Whether the caller may go on at once; else it must wait with ``enqueue(_:)``.
    mutating func take() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }

    mutating func enqueue(_ continuation: CheckedContinuation<Void, Never>) {
        waiting.append(continuation)
    }

    /// Ends the caller's turn; the turn of the next begins.
    mutating func pass() {
        if waiting.isEmpty {
            isTaken = false
        } else {
            waiting.removeFirst().resume()
        }
    }
}
