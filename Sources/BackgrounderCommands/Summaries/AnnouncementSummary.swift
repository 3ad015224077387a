import BackgrounderAPI
import SystemSupport

extension AudioStatus {
    /// Such as `doors.wav, 0:02 of 0:04, music at 20%, 3 waiting`; `nil` without an announcement.
    var announcing: String? {
        guard let announcement else { return nil }
        var parts = [announcement.path.split(separator: "/").last.map(String.init) ?? announcement.path]
        if let elapsed = announcement.elapsed {
            parts.append(Durations.clock(elapsed) + (announcement.duration.map { " of \(Durations.clock($0))" } ?? ""))
        } else {
            parts.append("starting")
        }
        if let duck = announcement.duck { parts.append("music at \((duck * 100).decimals(0))%") }
        if let announcements { parts.append("\(announcements) waiting") }
        return parts.joined(separator: ", ")
    }
}
