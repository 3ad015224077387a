/// A turn for a section of an actor's code that awaits: one caller at a time, in the order of their calls.
///
/// Actor isolation alone does not keep callers apart that await the disk between their steps. Belongs to one actor.
///
///     await turn.begin()
///     defer { turn.end() }
package final class Turn {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Creates a free turn.
    package init() {}

    /// Waits until no other caller has the turn. Pair with ``end()``.
    package func begin() async {
        if isTaken {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            isTaken = true
        }
    }

    /// Ends the caller's turn and begins that of the caller that has waited longest.
    package func end() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}
