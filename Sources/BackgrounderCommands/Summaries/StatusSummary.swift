import BackgrounderAPI
import FoundationEssentials
import SystemSupport

extension ServiceStatus {
    /// The text of `status`.
    func summary(_ time: TimeStyle = .output, now: Date = Date()) -> String {
        let up = uptime.map { ", up \(TimeStyle.span($0))" } ?? ""
        var lines = [
            "Backgrounder \(version), pid \(pid)\(up): \(state.rawValue) since \(time.text(since)), \(attached) attached",
            "modes     " + (modes.isEmpty ? "none" : modes.map(\.rawValue).joined(separator: ", ")),
        ].map(\.withoutControlCharacters)
        if let location { lines += Self.group("location", location.lines(time, now: now)) }
        if let audio { lines += Self.group("audio", audio.lines.map(\.withoutControlCharacters)) }
        lines += backgroundLines(now: now).map(\.withoutControlCharacters)
        lines += Self.group("storage", (health?.lines ?? []).map(\.withoutControlCharacters))
        return lines.joined(separator: "\n")
    }

    private static func group(_ name: String, _ lines: [String]) -> [String] {
        lines.enumerated().map { index, line in
            (index == 0 ? name + String(repeating: " ", count: 10 - name.count) : "          ") + line
        }
    }
}
