import BackgrounderAPI
import FoundationEssentials
import SystemSupport

extension LocationStatus {
    /// Lines for people: the source and its quality, the settings, how many fixes were accepted and rejected, and the last
    /// fix, coloured if it is stale. They have no control characters of outside data.
    func lines(_ time: TimeStyle = .output, now: Date = Date()) -> [String] {
        let lines = texts(time, now).map(\.withoutControlCharacters)
        guard isStale(at: now), let last = lines.last else { return lines }
        return lines.dropLast() + [Style.yellow(last)]
    }

    /// Whether the last fix of a receiver is older than a minute. While fixes are accepted, an old one only means that the
    /// filter holds back points of a machine that stands still.
    private func isStale(at now: Date) -> Bool {
        guard let lastFix, source.hasPrefix("gpsd://"), quality != .ok else { return false }
        return now.timeIntervalSince(lastFix.timestamp) > 60
    }

    private func texts(_ time: TimeStyle, _ now: Date) -> [String] {
        var lines = ["\(updating ? connection.rawValue : "stopped"), \(source)"]
        if let offReason { lines.append("off: \(offReason)") }
        if let quality {
            if let qualityDetail {
                lines.append("\(quality.rawValue): \(qualityDetail)")
            } else {
                lines[0] += ", \(quality.rawValue)"
            }
        }
        let limit = acceptLimit.map { "accepts up to \($0.metres)" } ?? "accepts all"
        let maximum = maximumAccuracy.map { ", at most \($0.metres)" } ?? ""
        let filter = distanceFilter == 0 ? "no distance filter" : "distance filter \(distanceFilter.metres)"
        lines.append("\(desiredAccuracy.rawValue) (asks for \(target.metres), \(limit)\(maximum)), \(filter)")
        let reasons = RejectionReason.allCases.filter { rejected[$0] > 0 }.map { "\($0.rawValue) \(rejected[$0])" }
        lines.append(
            "\(received) received, \(accepted) accepted"
                + (reasons.isEmpty ? "" : ", rejected: \(reasons.joined(separator: ", "))")
        )
        if waiting + dropped > 0 { lines.append("\(stored) stored, \(waiting) waiting, \(dropped) dropped") }
        if let lastRejection { lines.append("last rejected: \(lastRejection.summary(time))") }
        if let lastFix {
            let age = TimeStyle.age(of: lastFix.timestamp, at: now)
            lines.append("last fix \(isStale(at: now) ? "\(age), stale: " : "")\(lastFix.summary(time))")
        }
        return lines
    }
}

extension Rejection {
    /// Such as `accuracy 48.3 m, limit 30 m at 2014-12-22T04:05:13.000Z`.
    fileprivate func summary(_ time: TimeStyle) -> String {
        func text(_ value: Double) -> String {
            reason.unit == "m" ? value.metres : "\(value.decimals(1)) \(reason.unit)"
        }
        var line = reason.rawValue
        if let value { line += " \(text(value))" }
        if let limit { line += ", limit \(text(limit))" }
        if let timestamp { line += " at \(time.text(timestamp))" }
        return line
    }
}

extension Location {
    /// Such as `37.33482, -122.03351 ± 5 m, 15.9 m/s, 256° at 2014-12-22T04:05:13.000Z`.
    func summary(_ time: TimeStyle = .output) -> String {
        var text = "\(latitude.decimals(5)), \(longitude.decimals(5))"
        if let horizontalAccuracy { text += " ± \(horizontalAccuracy.metres)" }
        if let speed { text += ", \(speed.decimals(1)) m/s" }
        if let course { text += ", \(course.decimals(0))°" }
        return text + " at \(time.text(timestamp))"
    }
}
