import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// Tables of sources, runs, items and plans.
enum FetchTable {
    static func sources(_ sources: [FetchSource]) -> String {
        guard !sources.isEmpty else {
            return "No sources; add one with `backgrounder fetch add NAME --url URL`."
        }
        var table = Table([
            ("NAME", .left), ("UNSEEN", .right), ("INTERVAL", .left), ("REFRESH", .left), ("UPDATED", .left),
            ("NEXT", .left), ("FROM", .left),
        ])
        for source in sources {
            table.add([
                source.name, source.unseen == 0 ? "" : String(source.unseen), source.interval.text,
                source.refreshText, source.updatedText, source.next.map(ISO8601.string) ?? "", source.origin,
            ])
        }
        return table.render()
    }

    static func runs(_ runs: [FetchRun], of name: String) -> String {
        guard !runs.isEmpty else { return "\(name) has not been fetched yet." }
        var table = Table([
            ("ID", .right), ("BEGAN", .left), ("WHY", .left), ("SECONDS", .right), ("RESULT", .left),
            ("STATUS", .right), ("BYTES", .right), ("REASON", .left),
        ])
        for run in runs {
            table.add([
                String(run.id), ISO8601.string(run.began), run.trigger.rawValue, run.duration?.decimals(3) ?? "",
                run.result?.rawValue ?? "running", run.status.map { String($0) } ?? "",
                run.bytes.map { String($0) } ?? "", run.reason ?? run.note ?? "",
            ])
        }
        return table.render()
    }

    static func items(_ items: [FetchItem]) -> String {
        guard !items.isEmpty else { return "No items." }
        var table = Table([("PUBLISHED", .left), ("TITLE", .left), ("LINK", .left)])
        for item in items {
            table.add([item.published.map(ISO8601.string) ?? "", item.title ?? item.id, item.link ?? ""])
        }
        return table.render()
    }

    static func plan(_ entries: [PlanEntry]) -> String {
        guard !entries.isEmpty else { return "No runs are planned; `backgrounder fetch list` shows the sources." }
        var table = Table([("AT", .left), ("SOURCE", .left), ("WHY", .left)])
        for entry in entries { table.add([ISO8601.string(entry.at), entry.source, entry.why]) }
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

    fileprivate var updatedText: String { updated.map(ISO8601.string) ?? "Not yet updated" }

    fileprivate var refreshText: String { state == .off && refresh == .available ? "gone" : refresh.rawValue }

    /// The lines of `fetch show`.
    var lines: [String] {
        var lines = [
            "\(name)  \(kind.rawValue), \(origin)",
            "updated   \(updatedText), \(unseen) unseen",
            "interval  \(interval.text), at most \(Durations.text(.seconds(budget))) a run"
                + (runsPerDay.map { ", \($0) runs a day" } ?? ""),
            "refresh   \(refreshText)",
            "next      " + (next.map { "\(ISO8601.string($0)): " } ?? "") + (why ?? ""),
        ]
        if failures > 0 { lines.append("failures  \(failures) in a row") }
        if let download { lines.append("download  \(download)") }
        if let pending { lines.append("running   since \(ISO8601.string(pending.at))") }
        return lines
    }
}
