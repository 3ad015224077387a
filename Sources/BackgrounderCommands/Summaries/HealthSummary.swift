import BackgrounderAPI
import SystemSupport

extension StorageHealth {
    /// The problems, their remedies and the points in memory, as lines for people; empty while the storage is healthy.
    var lines: [String] {
        guard state != .ok else { return [] }
        var lines = problems.flatMap { ["\($0.message), since \($0.since.shown)", "→ \($0.hint)"] }
        if let points { lines.append(points) }
        if state == .damaged { lines.append("run `backgrounder doctor --acknowledge` to clear this report") }
        return lines
    }

    /// One line for people: the newest problem and the points in memory; `nil` while the storage is healthy.
    var line: String? {
        guard state != .ok, let problem = problems.last else { return nil }
        return "storage: \(problem.message)" + (points.map { "; \($0)" } ?? "")
    }

    /// Such as `12 points waiting in memory, full in 2:46:28; 3 dropped`; `nil` if no points wait and none were
    /// dropped.
    private var points: String? {
        guard waiting + dropped > 0 else { return nil }
        let wait = waiting == 1 ? "1 point waiting in memory" : "\(waiting) points waiting in memory"
        let time = lasts.map { ", full in \(Durations.clock($0))" } ?? ", room for \(capacity)"
        return (waiting > 0 ? wait + time : "no points waiting") + (dropped > 0 ? "; \(dropped) dropped" : "")
    }
}
