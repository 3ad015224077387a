import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// Tables of sources, runs, items and plans.
enum FetchTable {
    /// The sources, followed by the reasons why sources fail.
    static func sources(_ sources: [FetchSource]) -> String {
        guard !sources.isEmpty else {
            return "No sources; add one with `backgrounder fetch add NAME --url URL`."
        }
        var table = Table([
            ("NAME", .left), ("UNSEEN", .right), ("INTERVAL", .left), ("REFRESH", .left), ("UPDATED", .time),
            ("NEXT", .time), ("ADDED", .left), ("FROM", .left),
        ])
        for source in sources {
            table.add([
                source.name, source.unseen == 0 ? "" : String(source.unseen), source.interval.text,
                source.refreshText, source.updatedText, source.next.map(\.shown) ?? "",
                source.declared ? "in file" : "by command", source.origin,
            ])
        }
        let failures = sources.compactMap { source in
            source.failureText.map { "\(source.name): \($0)".withoutControlCharacters }
        }
        return ([table.render()] + failures).joined(separator: "\n")
    }

    static func runs(_ runs: [FetchRun], of name: String) -> String {
        guard !runs.isEmpty else { return "\(name) has not been fetched yet." }
        var table = Table([
            ("ID", .right), ("BEGAN", .time), ("WHY", .left), ("SECONDS", .right), ("RESULT", .left),
            ("STATUS", .right), ("BYTES", .right), ("REASON", .left),
        ])
        for run in runs {
            table.add([
                String(run.id), run.began.shown, run.trigger.rawValue, run.duration?.decimals(3) ?? "",
                run.result?.rawValue ?? "running", run.status.map { String($0) } ?? "",
                run.bytes.map { String($0) } ?? "", run.reason ?? run.note ?? "",
            ])
        }
        return table.render()
    }

    static func items(_ items: [FetchItem]) -> String {
        guard !items.isEmpty else { return "No items." }
        var table = Table([("PUBLISHED", .time), ("TITLE", .left), ("LINK", .left)])
        for item in items {
            table.add([item.published.map(\.shown) ?? "", item.title ?? item.id, item.link ?? ""])
        }
        return table.render()
    }

    static func plan(_ entries: [PlanEntry]) -> String {
        guard !entries.isEmpty else { return "No runs are planned; `backgrounder fetch list` shows the sources." }
        var table = Table([("AT", .time), ("SOURCE", .left), ("WHY", .left)])
        for entry in entries { table.add([entry.at.shown, entry.source, entry.why]) }
        return table.render()
    }
}

extension FetchSource {
    /// The URL or the command.
    fileprivate var origin: String {
        if let url { return url }
        guard let command else { return "" }
        return command.starts(with: ["/bin/sh", "-c"]) && command.count == 3
            ? command[2] : command.joined(separator: " ")
    }

    fileprivate var updatedText: String { updated.map(\.shown) ?? "Not yet updated" }

    fileprivate var refreshText: String { state == .off && refresh == .available ? "gone" : refresh.rawValue }

    /// The reason why the last run failed, and the number of failures; `nil` if it did not fail.
    fileprivate var failureText: String? {
        switch (failures, lastError) {
        case (0, nil): nil
        case (0...1, let reason?): "failed: \(reason)"
        case (_, let reason): "failed \(failures) times in a row" + (reason.map { ": \($0)" } ?? "")
        }
    }

    /// The lines of `fetch show`.
    var lines: [String] {
        var lines = [
            "\(name)  \(kind.rawValue), \(origin)",
            "updated   \(updatedText), \(unseen) unseen",
            "interval  \(interval.text), at most \(Durations.text(.seconds(budget))) a run"
                + (runsPerDay.map { ", \($0) runs a day" } ?? ""),
            "refresh   \(refreshText)",
            "next      " + (next.map { "\($0.shown): " } ?? "") + (why ?? ""),
        ]
        if declared { lines.append("declared  in the configuration file") }
        if let failureText { lines.append("failure   \(failureText)") }
        if let download { lines.append("download  \(download)") }
        if let pending { lines.append("running   since \(pending.at.shown)") }
        return lines
    }
}
