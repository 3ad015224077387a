import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// The panels of the tasks, the fetches and the transfers. Publishers are above the transfers, in the same panel.
struct BackgroundPanels {
    private let tasks: [Glance]
    private let fetch: [Glance]
    private let transfers: [Glance]
    /// The title of the panel of the transfers.
    private let transfersTitle: String

    init(_ state: LiveState, now: Date, instant: SuspendingClock.Instant) {
        let open = (state.status?.tasks ?? []).map { task in
            Glance(task, elapsed: state.taskTimes[task.id].map { (instant - $0).seconds } ?? 0)
        }
        tasks = open + state.endedTasks.reversed().map { Glance($0) }
        fetch = (state.status?.fetch ?? []).map { Glance($0, last: state.lastRuns[$0.name], now: now) }
        let publishers = (state.status?.publishers ?? []).map { Glance($0) }
        transfers =
            publishers + ((state.status?.transfers ?? []) + state.endedTransfers.reversed()).map { Glance($0) }
        transfersTitle = publishers.isEmpty ? "Transfers" : "Publishers, transfers"
    }

    /// Returns how many of `rows` the panels take below the others: as many as they need, at most `most`, and none if
    /// there are fewer than 12.
    func height(of rows: Int, most: Int) -> Int {
        guard rows >= 12 else { return 0 }
        return min(wanted + (transfers.isEmpty ? 0 : transfers.count + 2), most)
    }

    private var wanted: Int { max(tasks.count, fetch.count, 1) + 2 }

    /// Returns exactly `rows` lines of `columns` columns: tasks beside fetches, and transfers below them.
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
        if lower > 0 { lines += panel(transfersTitle, transfers, columns: columns, rows: lower) }
        return lines
    }

    /// Returns how many of `rows` one panel for all takes, at most `most`, and none if there are fewer than 12.
    func compactHeight(of rows: Int, most: Int) -> Int {
        rows >= 12 ? min(max(all.count, 1) + 2, most) : 0
    }

    /// Returns exactly `rows` lines of `columns` columns: one panel for all, beginning with the first of each kind.
    func compact(columns: Int, rows: Int) -> [String] {
        guard rows >= 3 else { return [] }
        return panel("Tasks, fetch, transfers", all, columns: columns, rows: rows)
    }

    private var all: [Glance] {
        let lists = [tasks, fetch, transfers]
        return lists.flatMap { $0.prefix(1) } + lists.flatMap { $0.dropFirst() }
    }

    /// Returns exactly `rows` lines of `columns` columns: tasks, fetches and transfers, one below the other.
    func stack(columns: Int, rows: Int) -> [String] {
        let lists = [("Tasks", tasks), ("Fetch", fetch), (transfersTitle, transfers)]
        var rest = rows
        var lines: [String] = []
        for (index, (title, glances)) in lists.enumerated() {
            // Each panel gets the rows that it needs, as far as those below it keep an equal share; the last gets the rest.
            let below = lists.count - 1 - index
            let needed = lists.dropFirst(index + 1).reduce(0) { $0 + max($1.1.count, 1) + 2 }
            let height = below == 0 ? rest : min(max(glances.count, 1) + 2, max(rest / (below + 1), rest - needed))
            lines += panel(title, glances, columns: columns, rows: height)
            rest -= height
        }
        return lines
    }

    /// Returns exactly `rows` lines of `columns` columns: one of the panels, from its line `scroll` on.
    func single(_ panel: LivePanel, scroll: Int, columns: Int, rows: Int) -> [String] {
        let glances: [Glance] =
            switch panel {
            case .tasks: tasks
            case .fetch: fetch
            case .transfers: transfers
            case .audio, .location, .log: []
            }
        let title = panel == .transfers ? transfersTitle : panel.title
        return self.panel(title, Array(glances.dropFirst(scroll)), columns: columns, rows: rows)
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
