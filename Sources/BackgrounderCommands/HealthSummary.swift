import BackgrounderAPI

extension StorageHealth {
    /// The problems, their remedies and the points in memory, as lines for people; empty while the storage is healthy.
    var lines: [String] {
        guard state != .ok else { return [] }
        var lines = problems.flatMap { ["\($0.message), since \(ISO8601.string($0.since))", "→ \($0.hint)"] }
        if let points { lines.append(points) }
        if state == .damaged { lines.append("`backgrounder doctor --acknowledge` ends this report") }
        return lines
    }

    /// One line for people: the newest problem and what waits. `nil` while all is well.
    var line: String? {
        guard state != .ok, let problem = problems.last else { return nil }
        return "storage: \(problem.message)" + (points.map { "; \($0)" } ?? "")
    }

    /// `12 points wait in memory, which lasts 2:46:28; 3 were dropped`
    private var points: String? {
        guard waiting + dropped > 0 else { return nil }
        let wait = waiting == 1 ? "1 point waits in memory" : "\(waiting) points wait in memory"
        let time = lasts.map { ", which lasts \(Durations.clock($0))" } ?? " for \(capacity)"
        return (waiting > 0 ? wait + time : "no point waits") + (dropped > 0 ? "; \(dropped) were dropped" : "")
    }

    /// The doctor's check of the storage.
    var check: DoctorReport.Check {
        .init(
            "storage",
            state == .ok,
            state == .ok ? "everything is stored" : lines.filter { !$0.hasPrefix("→") }.joined(separator: "; "),
            hint: problems.last?.hint
        )
    }
}
