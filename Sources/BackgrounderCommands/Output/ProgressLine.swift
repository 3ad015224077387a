import SystemSupport

/// A progress line on stderr that is overwritten in place. It is shown only on a terminal.
struct ProgressLine {
    let isShown = StandardError.isTerminal
    private var last: ContinuousClock.Instant?

    /// Replaces the line with `text`, at most five times a second.
    mutating func show(_ text: String) {
        let now = ContinuousClock.now
        guard isShown, last.map({ now - $0 >= .milliseconds(200) }) ?? true else { return }
        last = now
        StandardError.write("\r\u{1B}[K" + text)
    }

    /// Erases the line.
    mutating func end() {
        if last != nil { StandardError.write("\r\u{1B}[K") }
        last = nil
    }
}
