import BackgrounderAPI
import SystemSupport

extension AudioStatus {
    /// Lines for people: the current item, the settings, the output, and the last error.
    var lines: [String] {
        var lines = [timeControlStatus.rawValue]
        if let currentItem {
            lines[0] += " \(currentItem.name)"
            if let elapsed {
                lines[0] +=
                    ", \(Durations.clock(elapsed))" + (currentItem.duration.map { " of \(Durations.clock($0))" } ?? "")
            }
        }
        if !outputEnabled { lines.append("the output is disabled; enable it with: backgrounder audio output on") }
        if let buffering { lines.append("waiting for sound: \(buffering)") }
        if let announcing { lines.append("announcement \(announcing)") }
        let settings = (["volume \(volume)"] + modes + ["driver \(driver)"]).joined(separator: ", ")
        lines.append(settings + (device.map { " (\($0))" } ?? ""))
        if underruns + interruptions > 0 { lines.append("\(underruns) underruns, \(interruptions) interruptions") }
        if let lastError { lines.append("last error: \(lastError.summary)") }
        return lines
    }

    /// The lines of `audio status` for a screen of `columns` columns: the current item with a progress bar, its file,
    /// the output and its health, and the settings.
    func details(columns: Int) -> [String] {
        var rows = [(timeControlStatus.rawValue, currentItem?.name ?? "nothing")]
        if let currentItem {
            if let elapsed {
                let clock = Durations.clock(elapsed) + (currentItem.duration.map { " / \(Durations.clock($0))" } ?? "")
                // Tuned: a longer bar does not read better
                let width = min(48, columns - Self.indent - clock.count - 1)
                rows.append(
                    ("", "\(ProgressBar.render(elapsed, of: currentItem.duration, width: max(4, width))) \(clock)")
                )
            }
            if let buffering { rows.append(("waits", buffering)) }
            if let station = currentItem.station { rows.append(("station", station)) }
            rows.append(
                (
                    currentItem.isStream ? "address" : "file",
                    currentItem.path + (currentItem.formatText.map { " (\($0))" } ?? "")
                )
            )
        }
        if let announcing { rows.append(("announces", announcing)) }
        rows.append(("output", output))
        rows.append(("health", continuity))
        rows.append(("volume", settings))
        if let lastError { rows.append(("error", lastError.summary)) }
        rows += (health?.lines ?? []).enumerated().map { ($0 == 0 ? "storage" : "", $1) }
        return rows.map { name, text in
            name + String(repeating: " ", count: max(1, Self.indent - name.count)) + text
        }
    }

    private static var indent: Int { 10 }

    private var output: String {
        guard outputEnabled else { return "disabled; enable it with: backgrounder audio output on" }
        return driver + (device.map { " (\($0))" } ?? "") + (format.map { ", \($0)" } ?? "")
    }

    private var continuity: String {
        func times(_ count: Int, _ noun: String) -> String {
            count == 0 ? "no \(noun)s" : "\(count) \(noun)\(count == 1 ? "" : "s")"
        }
        return
            "\(buffered.decimals(1)) s buffered, \(times(underruns, "underrun")), \(times(interruptions, "interruption"))"
    }

    private var settings: String {
        (["\(volume)"] + modes).joined(separator: ", ")
    }

    /// The settings that differ from the defaults.
    var modes: [String] {
        let switches = [
            ("repeat", `repeat`), ("single", single == .on), ("single oneshot", single == .oneshot),
            ("consume", consume), ("random", random), ("replay gain \(replayGain.rawValue)", replayGain != .off),
        ]
        return switches.filter(\.1).map(\.0)
    }
}

extension PlaybackError {
    /// Such as `/srv/a.mp3: the file ends early at 2026-11-21T06:55:49.000Z`.
    var summary: String {
        [path, reason].compactMap(\.self).joined(separator: ": ") + " at \(timestamp.shown)"
    }
}

extension PlayerItem {
    /// The artist and title, or the file name for an item without a title.
    var name: String {
        guard let title else { return fileName }
        return artist.map { "\($0): \(title)" } ?? title
    }

    /// Such as `mp3, 44100 Hz, stereo`.
    fileprivate var formatText: String? {
        let channels = channels.map { $0 == 1 ? "mono" : $0 == 2 ? "stereo" : "\($0) channels" }
        let parts = [codec, sampleRate.map { "\($0) Hz" }, channels].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
