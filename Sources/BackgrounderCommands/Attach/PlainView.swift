import BackgrounderAPI
import Glibc
import SystemSupport

/// The live view when stdout is not a terminal: a line for each event.
struct PlainView {
    let client: Client

    func run() async throws {
        let inbox = ViewInbox()
        let signals = SignalInput([SIGINT, SIGTERM, SIGHUP]) { inbox.post(.quit) }
        // Each line is written before the next event is read. If stdout blocks, events pile up in the socket, and the
        // service can tell that this client lags.
        let reader = Task {
            var state = LiveState()
            var hasBegun = false
            let failure = await client.watch { event in
                state.apply(event)
                if !hasBegun, let status = state.status {
                    hasBegun = true
                    try Output.print(status.summary())
                } else if let line = line(for: event, state) {
                    try Output.print(line.withoutControlCharacters)
                }
            }
            inbox.post(.ended(failure))
        }
        defer {
            reader.cancel()
            withExtendedLifetime(signals) {}
        }
        for await _ in inbox.bell {
            let content = inbox.take()
            if content.isQuit { return }
            if let failure = content.failure { throw failure }
        }
    }

    private func line(for event: Event, _ state: LiveState) -> String? {
        switch event {
        case .state: nil
        case .location(let location): "location  \(location.summary())"
        case .currentItem(let current):
            "audio     " + (current.item.map { "now \($0.name)" } ?? "end of the queue")
        case .time(let time):
            state.status?.audio?.currentItem.map { item in
                "audio     \(Durations.clock(time.elapsed))\(time.duration.map { " of \(Durations.clock($0))" } ?? "") \(item.name)"
            }
        case .lifecycle(let lifecycle): "service   \(lifecycle.state.rawValue), \(lifecycle.attached) attached"
        case .task(let task): "task      \(Glance(task).text)"
        case .fetch(let run): "fetch     \(run.source): \(outcome(of: run))"
        case .transfer(let transfer): "transfer  \(Glance(transfer).text)"
        case .alert(let alert): "alert     \(alert.text)"
        case .place(let event): "place     \(event.line)"
        case .health(let health): health.line ?? "storage   everything is stored"
        }
    }

    private func outcome(of run: FetchRun) -> String {
        guard let result = run.result else { return "fetching (\(run.trigger.rawValue))" }
        let duration = run.duration.map { " in \($0.decimals(2)) s" } ?? ""
        return result.words + duration + (run.reason.map { ": \($0)" } ?? "")
    }
}
