import BackgrounderAPI
import FoundationEssentials
import SystemSupport

extension ServiceStatus {
    /// The text of `status`.
    var summary: String {
        var lines = [
            "Backgrounder \(version), pid \(pid): \(state.rawValue) since \(ISO8601.string(since)), \(attached) attached"
        ]
        lines.append("modes     " + (modes.isEmpty ? "none" : modes.map(\.rawValue).joined(separator: ", ")))
        if let location { lines += location.lines.enumerated().map { ($0 == 0 ? "location  " : "          ") + $1 } }
        if let audio { lines += audio.lines.enumerated().map { ($0 == 0 ? "audio     " : "          ") + $1 } }
        lines += backgroundLines(now: Date())
        let storage = health?.lines ?? []
        lines += storage.enumerated().map { ($0 == 0 ? "storage   " : "          ") + $1 }
        return lines.printable
    }
}
