import BackgrounderAPI
import SystemSupport

/// A table of transfers, followed by their errors.
func transferTable(_ transfers: [Transfer]) -> String {
    guard !transfers.isEmpty else {
        return "No transfers; start one with `backgrounder transfer get URL DIR/`."
    }
    var table = Table([
        ("ID", .right), ("", .left), ("STATE", .left), ("PROGRESS", .left), ("SIZE", .right), ("SESSION", .left),
        ("FILE", .left), ("URL", .left),
    ])
    for transfer in transfers {
        let state = transfer.waitingFor.map { "\(transfer.state.rawValue) (\($0.rawValue))" } ?? transfer.state.rawValue
        table.add([
            String(transfer.id), transfer.direction == .get ? "↓" : "↑", state, transfer.bar(width: 12),
            (transfer.total ?? transfer.received).inBytes, transfer.session,
            transfer.destination, transfer.url,
        ])
    }
    let errors = transfers.compactMap { transfer in
        transfer.error.map { "\(transfer.id): \($0)".withoutControlCharacters }
    }
    return ([table.render()] + errors).joined(separator: "\n")
}

extension Transfer {
    /// The progress as a bar and a percentage; empty while the size is unknown.
    func bar(width: Int) -> String {
        guard let share else { return "" }
        let percent = Int(exactly: (share * 100).rounded(.down)) ?? 0
        return "\(ProgressBar.render(share, of: 1, width: width)) \(percent)%"
    }

    /// Such as `7 ━━━━──── 41% of 12.3 MB`, for one line of a terminal.
    var progressLine: String {
        let count = total.map { "\(bar(width: 24)) of \($0.inBytes)" } ?? received.inBytes
        let wait = waitingFor.map { ", waiting: \($0.rawValue)" } ?? (state == .running ? "" : ", \(state.rawValue)")
        return "\(id) \(count)\(wait)\(error.map { " (\($0))" } ?? "")".withoutControlCharacters
    }
}
