import BackgrounderAPI
import FoundationEssentials
import SystemSupport

extension ServiceStatus {
    /// The most lines for each of the groups. Tuned: keeps `status` short; each group has its own `list` command.
    private static let mostLines = 5

    /// Tasks, fetches, transfers and publishers, each group under its heading; empty groups are left out.
    func backgroundLines(now: Date) -> [String] {
        Self.lines("tasks", (tasks ?? []).map { Glance($0) }, more: "task list")
            + Self.lines("fetch", (fetch ?? []).map { Glance($0, now: now) }, more: "fetch list")
            + Self.lines("transfers", (transfers ?? []).map { Glance($0) }, more: "transfer list")
            + Self.lines("publish", (publishers ?? []).map { Glance($0) }, more: "publish list")
    }

    private static func lines(_ heading: String, _ glances: [Glance], more command: String) -> [String] {
        var texts = glances.map { glance in
            glance.text + (glance.share.map { " (\(($0 * 100).decimals(0)) %)" } ?? "")
        }
        if texts.count > mostLines {
            texts = texts.prefix(mostLines - 1) + ["and \(texts.count - mostLines + 1) more: `backgrounder \(command)`"]
        }
        return texts.enumerated().map { index, text in
            (index == 0 ? heading + String(repeating: " ", count: 10 - heading.count) : "          ") + text
        }
    }
}
