import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// The picture of the live view: a function of the state of the service, the state of the view, and the size and charset
/// of the terminal.
struct LiveScreen {
    let state: LiveState
    let view: ViewState
    let columns: Int
    let rows: Int
    let charset: Charset
    var now = Date()
    var instant = SuspendingClock.now
    /// Whether the selected item is in reverse video, beside its mark.
    var isStyled = false

    /// Tuned: smaller panels show nothing that helps.
    private static let least = (columns: 28, rows: 7)
    /// Tuned: from this width on, two panels side by side show whole lines.
    private static let twoColumns = 72
    /// Tuned: as ``twoColumns``, for three panels.
    private static let threeColumns = 132
    /// Tuned: from this height on, the log does not take rows that the other panels need.
    private static let rowsWithLog = 32

    /// Whether the log is on the screen.
    var isShowingLog: Bool {
        switch view.layout {
        case .single(.log, _): true
        case .allPanels: rows >= Self.rowsWithLog && columns >= Self.twoColumns
        case .single, .help: false
        }
    }

    /// Returns exactly `rows` lines of `columns` columns.
    func lines() -> [String] {
        let lines = picture().prefix(rows).map { charset.shown($0) }
        return lines + Array(repeating: "".fitted(to: columns), count: max(0, rows - lines.count))
    }

    private func picture() -> [String] {
        guard let status = state.status else { return ["Connecting …".fitted(to: columns)] }
        guard columns >= Self.least.columns, rows >= Self.least.rows else {
            return ["needs \(Self.least.columns)x\(Self.least.rows), q quits".fitted(to: columns)]
        }
        return [header(status)] + body(rows: rows - 2) + [footer(status).withoutControlCharacters.fitted(to: columns)]
    }

    private func header(_ status: ServiceStatus) -> String {
        let since = TimeStyle.local(now: now).clock(status.since)
        return "Backgrounder \(status.version)  \(status.state.rawValue) since \(since)  \(status.attached) attached"
            .withoutControlCharacters.fitted(to: columns)
    }

    /// The newest message, or the most useful keys that fit.
    private func footer(_ status: ServiceStatus) -> String {
        if let refusal = view.refusal { return "! \(refusal)" }
        if let problem = status.health?.line { return "! \(problem)" }
        if let alert = state.alert, alert != view.seenAlert { return "\(alert.source): \(alert.text)" }
        let player = ["n next", "p previous", "+/- volume", "enter play", "d remove"]
        switch view.layout {
        case .help: return "any key closes the help"
        case .single(.audio, _): return keys(["z all panels", "? help", "q detach", "space play/pause"] + player)
        case .single(.location, _): return keys(["z all panels", "? help", "q detach", "tab next panel"])
        case .single: return keys(["z all panels", "? help", "q detach", "up/down scroll", "tab next panel"])
        case .allPanels: return keys(["space play/pause", "? help", "q detach"] + player + ["l log", "1-6 one panel"])
        }
    }

    private func keys(_ keys: [String]) -> String {
        var line = keys[0]
        for key in keys.dropFirst() where line.count + 2 + key.count <= columns { line += "  \(key)" }
        return line
    }

    private func body(rows: Int) -> [String] {
        switch view.layout {
        case .help: Panel(title: "Keys", lines: HelpPanel.lines).render(columns: columns, rows: rows)
        case .single(let panel, let scroll): single(panel, scroll: scroll, rows: rows)
        case .allPanels: allPanels(rows: rows)
        }
    }

    private func single(_ panel: LivePanel, scroll: Int, rows: Int) -> [String] {
        switch panel {
        case .audio: audio(columns: columns, rows: rows)
        case .location: location(columns: columns, rows: rows)
        case .tasks, .fetch, .transfers:
            background.single(panel, scroll: scroll, columns: columns, rows: rows)
        case .log: log(scroll: scroll, rows: rows)
        }
    }

    private func allPanels(rows: Int) -> [String] {
        let below = isShowingLog ? log(scroll: 0, rows: rows / 4) : []
        let rows = rows - below.count
        if columns >= Self.threeColumns { return threeColumns(rows: rows) + below }
        return (columns >= Self.twoColumns ? twoColumns(rows: rows) : oneColumn(rows: rows)) + below
    }

    private func threeColumns(rows: Int) -> [String] {
        let width = columns / 3
        let upper = Panel.beside(
            audio(columns: width, rows: rows),
            location(columns: width, rows: rows)
        )
        return Panel.beside(upper, background.stack(columns: columns - 2 * width, rows: rows))
    }

    private func twoColumns(rows: Int) -> [String] {
        let lower = background.height(of: rows, most: rows / 2)
        let left = columns / 2
        return Panel.beside(
            audio(columns: left, rows: rows - lower),
            location(columns: columns - left, rows: rows - lower)
        ) + background.render(columns: columns, rows: lower)
    }

    private func oneColumn(rows: Int) -> [String] {
        let lower = background.compactHeight(of: rows, most: rows / 3)
        // Tuned: the place, the receiver and the trip
        let middle = rows - lower >= 12 ? max(5, (rows - lower) * 2 / 5) : 0
        return audio(columns: columns, rows: rows - lower - middle)
            + (middle > 0 ? location(columns: columns, rows: middle) : [])
            + background.compact(columns: columns, rows: lower)
    }

    private func audio(columns: Int, rows: Int) -> [String] {
        AudioPanel(state, view.cursor).panel(width: columns - 4, rows: rows - 2, isStyled: isStyled)
            .render(columns: columns, rows: rows)
    }

    private func location(columns: Int, rows: Int) -> [String] {
        let lines = LocationPanel(state, now: now).lines(width: columns - 4, rows: rows - 2)
        return Panel(title: "Location", lines: lines).render(columns: columns, rows: rows)
    }

    private func log(scroll: Int, rows: Int) -> [String] {
        let time = TimeStyle.local(now: now)
        let records = state.log.records.dropLast(scroll).suffix(max(0, rows - 2))
        var lines = records.map { record in
            guard let timestamp = record.timestamp, let level = record.level else { return record.message }
            return "\(time.clock(timestamp)) \(level) \(record.message)"
        }
        if let fault = state.log.fault { lines = [fault] + lines.suffix(max(0, rows - 3)) }
        if lines.isEmpty { lines = [state.log.isRead ? "no lines yet" : "reading …"] }
        return Panel(title: "Log", lines: lines).render(columns: columns, rows: rows)
    }

    private var background: BackgroundPanels { BackgroundPanels(state, now: now, instant: instant) }
}
