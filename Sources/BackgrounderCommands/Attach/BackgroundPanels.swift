import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// The lower part of the live view: tasks beside fetches, and transfers below them.
struct BackgroundPanels {
    private let tasks: [Glance]
    private let fetch: [Glance]
    private let transfers: [Glance]

    init(_ state: LiveState, now: Date, instant: SuspendingClock.Instant) {
        let open = (state.status?.tasks ?? []).map { task in
            Glance(task, elapsed: state.taskTimes[task.id].map { (instant - $0).seconds } ?? 0)
        }
        tasks = open + state.endedTasks.reversed().map { Glance($0) }
        fetch = (state.status?.fetch ?? []).map { Glance($0, last: state.lastRuns[$0.name], now: now) }
        transfers = ((state.status?.transfers ?? []) + state.endedTransfers.reversed()).map { Glance($0) }
    }

    /// Returns how many of `rows` the panels take: as many as they need, at most half, and none if there are fewer than
    /// 12.
    func height(of rows: Int) -> Int {
        guard rows >= 12 else { return 0 }
        return min(wanted + (transfers.isEmpty ? 0 : transfers.count + 2), rows / 2)
    }

    private var wanted: Int { max(tasks.count, fetch.count, 1) + 2 }

    /// Returns exactly `rows` lines of `columns` columns.
    func render(columns: Int, rows: Int) -> [String] {
        guard rows >= 3 else { return [] }
        // The upper panels get the rows that they need; the lower one gets the rest, but at least three.
        let lower = transfers.isEmpty || rows < 6 ? 0 : max(3, min(transfers.count + 2, rows - wanted))
        let upper = rows - lower
        let left = columns / 2
        var lines = Panel.beside(
            panel("Tasks", tasks, columns: left, rows: upper),
            panel("Fetch", fetch, columns: columns - left, rows: upper)
        )
        if lower > 0 { lines += panel("Transfers", transfers, columns: columns, rows: lower) }
        return lines
    }

    private func panel(_ title: String, _ glances: [Glance], columns: Int, rows: Int) -> [String] {
        let width = max(0, columns - 4)
        var lines = glances.map { $0.line(width: width, bar: true) }
        if lines.count > rows - 2 {
            let shown = max(0, rows - 3)
            lines = lines.prefix(shown) + ["and \(glances.count - shown) more"]
        }
        return Panel(title: title, lines: lines.isEmpty ? ["none"] : lines).render(columns: columns, rows: rows)
    }
}
