import BackgrounderAPI
import SystemSupport

extension LocationStatus {
    /// Lines for people: the source and its quality, the settings, and how many fixes were accepted and rejected.
    var lines: [String] {
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
        if let lastRejection { lines.append("last rejected: \(lastRejection.summary)") }
        if let lastFix { lines.append("last fix \(lastFix.summary)") }
        return lines
    }
}

extension Rejection {
    /// Such as `accuracy 48.3 m, limit 30 m at 2014-12-22T04:05:13.000Z`.
    fileprivate var summary: String {
        func text(_ value: Double) -> String {
            reason.unit == "m" ? value.metres : "\(value.decimals(1)) \(reason.unit)"
        }
        var line = reason.rawValue
        if let value { line += " \(text(value))" }
        if let limit { line += ", limit \(text(limit))" }
        if let timestamp { line += " at \(ISO8601.string(timestamp))" }
        return line
    }
}

extension Location {
    /// Such as `37.33482, -122.03351 ± 5 m, 15.9 m/s, 256° at 2014-12-22T04:05:13.000Z`.
    var summary: String {
        var text = "\(latitude.decimals(5)), \(longitude.decimals(5))"
        if let horizontalAccuracy { text += " ± \(horizontalAccuracy.metres)" }
        if let speed { text += ", \(speed.decimals(1)) m/s" }
        if let course { text += ", \(course.decimals(0))°" }
        return text + " at \(ISO8601.string(timestamp))"
    }
}
