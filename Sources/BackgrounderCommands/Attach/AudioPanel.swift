import BackgrounderAPI
import SystemSupport

/// The upper left part of the live view: what plays, and the queue.
struct AudioPanel {
    private let state: LiveState
    private let cursor: QueueCursor

    init(_ state: LiveState, _ cursor: QueueCursor) {
        (self.state, self.cursor) = (state, cursor)
    }

    /// Returns the panel for this width and this number of rows inside.
    ///
    /// - Parameter isStyled: Whether the selected item is in reverse video.
    func panel(width: Int, rows: Int, isStyled: Bool) -> Panel {
        let lines = lines(width: width, rows: rows)
        let selected = isStyled ? lines.lastIndex { $0.hasPrefix(Self.selection) } : nil
        return Panel(title: LivePanel.audio.title, lines: lines, reversed: selected)
    }

    /// The mark of the selected item, which is in the last line that begins with it.
    private static let selection = "›"

    private func lines(width: Int, rows: Int) -> [String] {
        guard let audio = state.status?.audio else { return ["off"] }
        let isRoomy = rows >= 9
        var lines = playing(audio, width: width, isRoomy: isRoomy)
        if let announcing = audio.announcing { lines.append("» \(announcing)") }
        lines.append(Self.settings(audio))
        if let error = audio.lastError { lines.append("! \(error.reason)") }
        guard !cursor.items(in: state).isEmpty else { return lines }
        if isRoomy { lines.append(heading(width: width)) }
        return lines + queue(audio, width: width, rows: rows - lines.count)
    }

    private func playing(_ audio: AudioStatus, width: Int, isRoomy: Bool) -> [String] {
        guard let item = audio.currentItem else {
            return [state.queue.isEmpty ? "nothing to play" : "not playing; space plays the queue"]
        }
        var lines = ["\(audio.timeControlStatus == .playing ? "▶" : "‖") \(item.name)"]
        if isRoomy { lines.append([item.album, item.fileName].compactMap(\.self).joined(separator: " · ")) }
        if let elapsed = audio.elapsed {
            let clock = Durations.clock(elapsed) + (item.duration.map { " / \(Durations.clock($0))" } ?? "")
            let bar = ProgressBar.render(elapsed, of: item.duration, width: max(4, width - clock.count - 1))
            lines.append("\(bar) \(clock)")
        }
        return lines
    }

    private static func settings(_ audio: AudioStatus) -> String {
        let device = audio.device.map { " (\($0))" } ?? ""
        let output = audio.outputEnabled ? "\(audio.driver)\(device)" : "output disabled"
        return ([audio.timeControlStatus.rawValue, "volume \(audio.volume)", output] + audio.modes)
            .joined(separator: ", ")
    }

    /// A line between the state and the queue, such as `── Queue, 3 of 12 ──────`.
    private func heading(width: Int) -> String {
        let position = cursor.selected(in: state).map { "\($0.position + 1) of " } ?? ""
        return "── Queue, \(position)\(state.queueLength) ".fitted(to: width, with: "─")
    }

    /// Returns at most `rows` items around the selected one.
    private func queue(_ audio: AudioStatus, width: Int, rows: Int) -> [String] {
        let items = cursor.items(in: state)
        let selected = cursor.selected(in: state)
        let index = items.firstIndex { $0.id == selected?.id } ?? 0
        // Most of the rows are for the items that follow.
        let start = max(0, min(index - min(rows / 3, 5), items.count - rows))
        let shown = items.dropFirst(start).prefix(max(0, rows))
        let digits = shown.last.map { String($0.position + 1).count } ?? 1
        return shown.map { item in
            let selection = item.id == selected?.id ? Self.selection : " "
            let mark = item.error != nil ? "✗" : item.id == audio.currentItem?.id ? "▶" : " "
            let number = String(item.position + 1)
            let padding = String(repeating: " ", count: max(0, digits - number.count))
            let duration = item.duration.map { " \(Durations.clock($0))" } ?? ""
            let error = item.error.map { ": \($0)" } ?? ""
            let text = "\(selection)\(mark) \(padding)\(number). \(item.name)\(error)".withoutControlCharacters
            return text.fitted(to: max(0, width - duration.count)) + duration
        }
    }
}
