import BackgrounderAPI
import SystemSupport

/// A table of transfers, followed by their errors.
func transferTable(_ transfers: [Transfer]) -> String {
    guard !transfers.isEmpty else {
        return "No transfers; start one with `backgrounder transfer get URL DIR/`."
    }
    var table = Table([
        ("ID", .right), ("", .left), ("STATE", .left), ("PROGRESS", .left), ("SIZE", .right), ("RATE", .right),
        ("LEFT", .right), ("NEXT ATTEMPT", .left), ("SESSION", .left), ("FILE", .left), ("URL", .left),
    ])
    for transfer in transfers {
        table.add([
            String(transfer.id), transfer.direction == .get ? "↓" : "↑", transfer.stateText, transfer.bar(width: 12),
            (transfer.total ?? transfer.received).inBytes, transfer.rateText ?? "",
            transfer.remaining.map(Durations.clock) ?? "", transfer.next.map(ISO8601.string) ?? "", transfer.session,
            transfer.destination, transfer.url,
        ])
    }
    let errors = transfers.compactMap { transfer in
        transfer.error.map { "\(transfer.id): \($0)".withoutControlCharacters }
    }
    return ([table.render()] + errors).joined(separator: "\n")
}

/// A table of sessions.
func sessionTable(_ sessions: [SessionStatus]) -> String {
    guard !sessions.isEmpty else { return "No sessions; the first transfer creates one." }
    var table = Table([
        ("NAME", .left), ("ADDED", .left), ("OPEN", .right), ("EVENTS", .right), ("DEFAULTS", .left),
    ])
    for session in sessions {
        let defaults = [
            session.discretionary.map { $0 ? "discretionary" : "immediate" },
            session.exists.map { "exists \($0.rawValue)" }, session.sizeMax.map { "at most \($0.inBytes)" },
        ]
        table.add([
            session.name, session.declared ? "in file" : "by transfer", String(session.open), String(session.events),
            defaults.compactMap(\.self).joined(separator: ", "),
        ])
    }
    return table.render()
}

extension Transfer {
    /// The progress as a bar and a percentage; empty while the size is unknown.
    func bar(width: Int) -> String {
        guard let share else { return "" }
        let percent = Int(exactly: (share * 100).rounded(.down)) ?? 0
        return "\(ProgressBar.render(share, of: 1, width: width)) \(percent)%"
    }

    /// The state, and the condition that the transfer waits for.
    var stateText: String {
        waitingFor.map { "\(state.rawValue) \($0.words)" } ?? state.rawValue
    }

    /// The speed, such as `1.2 MB/s`; `nil` while it is unknown.
    fileprivate var rateText: String? {
        rate.flatMap { Int64(exactly: $0.rounded()) }.map { "\($0.inBytes)/s" }
    }

    /// Such as `7 ━━━━──── 41% of 12.3 MB, 1.2 MB/s, 0:07 left`, for one line of a terminal.
    var progressLine: String {
        let count = total.map { "\(bar(width: 24)) of \($0.inBytes)" } ?? received.inBytes
        let progress = [rateText, remaining.map { "\(Durations.clock($0)) left" }].compactMap(\.self)
        let words = state == .running ? progress : [stateText]
        return "\(id) \(([count] + words).joined(separator: ", "))\(error.map { " (\($0))" } ?? "")"
            .withoutControlCharacters
    }
}

extension TransferWait {
    /// The condition in words that follow `waiting`.
    fileprivate var words: String {
        switch self {
        case .network: "for the network"
        case .power: "for power"
        case .disk: "for disk space"
        case .backoff: "for the next attempt"
        case .limiter: "until the machine is less busy"
        }
    }
}
