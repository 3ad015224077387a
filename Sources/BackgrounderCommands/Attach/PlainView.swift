import BackgrounderAPI
import Glibc

/// The live view where there is no terminal: a line for each thing that happens.
struct PlainView {
    let client: Client

    func run() async throws {
        var state = LiveState()
        var hasBegun = false
        let inputs = client.viewInputs { [SignalInput([SIGINT, SIGTERM, SIGHUP], $0, .quit)] }
        defer { inputs.end() }
        for await input in inputs.stream {
            switch input {
            case .quit: return
            case .ended(let failure): throw failure
            case .key, .resized: continue
            case .event(let event):
                state.apply(event)
                if !hasBegun, let status = state.status {
                    hasBegun = true
                    try Output.print(status.summary)
                } else if let line = line(for: event, state) {
                    try Output.print(line.withoutControlCharacters)
                }
            }
        }
    }

    private func line(for event: Event, _ state: LiveState) -> String? {
        switch event {
        case .state: nil
        case .location(let location): "location  \(location.summary)"
        case .currentItem(let current):
            "audio     " + (current.item.map { "now \($0.name)" } ?? "the queue is at its end")
        case .time(let time):
            state.status?.audio?.currentItem.map { item in
                "audio     \(Durations.clock(time.elapsed))\(time.duration.map { " of \(Durations.clock($0))" } ?? "") \(item.name)"
            }
        case .lifecycle(let lifecycle): "service   \(lifecycle.state.rawValue), \(lifecycle.attached) attached"
        }
    }
}
