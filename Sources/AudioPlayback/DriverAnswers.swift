import Synchronization

/// Which drivers have opened, asked on a thread each, since any of them may hang.
final class DriverAnswers: Sendable {
    private struct State {
        var open: Set<String>
        var available: Set<String> = []
    }
    private let state: Mutex<State>
    private let answered: AsyncStream<Void>
    private let end: AsyncStream<Void>.Continuation

    init(_ names: [String]) {
        state = Mutex(State(open: Set(names)))
        (answered, end) = AsyncStream.makeStream()
    }

    var available: Set<String> { state.withLock(\.available) }

    func note(_ name: String, _ isAvailable: Bool) {
        let isLast = state.withLock { state in
            if isAvailable { state.available.insert(name) }
            state.open.remove(name)
            return state.open.isEmpty
        }
        if isLast { finish() }
    }

    func finish() { end.finish() }

    /// Until all have answered or ``finish()`` was called.
    func wait() async { for await _ in answered {} }
}
