import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// One line about a task, a source or a transfer, for a panel or a status: its name on the left, its state on the
/// right.
struct Glance: Hashable {
    var name: String
    var state: String
    /// The progress from 0 to 1; `nil` if it is unknown.
    var share: Double?

    init(_ name: String, _ state: String, share: Double? = nil) {
        self.name = name
        self.state = state
        self.share = share
    }

    /// `name: state`
    var text: String { "\(name): \(state)" }

    /// Returns a line of `width` columns with the name on the left and the state on the right. If they do not fit, the
    /// name is cut, but not below a third of the width. With `bar`, a progress bar fills the space between them.
    func line(width: Int, bar: Bool = false) -> String {
        let (name, state) = (name.withoutControlCharacters, state.withoutControlCharacters)
        let stateWidth = min(state.terminalColumns, max(0, width - 1 - min(name.terminalColumns, width / 3)))
        let gap = width - name.terminalColumns - stateWidth
        if bar, let share, gap >= 8 {
            // Tuned: a longer bar does not read better
            let length = min(48, gap - 2)
            let progress = ProgressBar.render(share, of: 1, width: length)
            return "\(name.fitted(to: width - stateWidth - length - 2)) \(progress) \(state.fitted(to: stateWidth))"
        }
        return "\(name.fitted(to: max(0, width - stateWidth - 1))) \(state.fitted(to: stateWidth))"
    }
}

extension Glance {
    /// Creates the line of `task`.
    ///
    /// - Parameter elapsed: Seconds since `task` was reported.
    init(_ task: BackgroundTask, elapsed: Double = 0) {
        let name = "\(task.id) \(task.name)"
        guard task.state.isOpen else {
            let status = task.exitStatus.map { ", exit status \($0)" } ?? ""
            self.init(name, task.state.rawValue + (task.state == .failed ? status : ""))
            return
        }
        // The sample task has no command; its detail is the newest number.
        let number = task.command.isEmpty ? task.detail.map { ", \($0)" } ?? "" : ""
        guard let remaining = task.remaining else {
            self.init(name, "\(task.state.rawValue), unlimited\(number)")
            return
        }
        let left = max(0, remaining - elapsed)
        self.init(
            name,
            "\(task.state.rawValue), \(Durations.clock(left)) left\(number)",
            share: task.budget > 0 ? 1 - left / task.budget : nil
        )
    }

    /// Creates the line of `source`.
    ///
    /// - Parameter last: The newest finished run, if the view has seen one.
    init(_ source: FetchSource, last: FetchRun? = nil, now: Date) {
        var words: [String] = []
        if source.unseen > 0 { words.append("\(source.unseen) new") }
        if source.pending != nil {
            words.append("fetching")
        } else if source.failures > 0 {
            words.append(source.failures == 1 ? "failed" : "failed \(source.failures) times")
        } else if let result = last?.result {
            words.append(result.words)
        }
        if source.state == .off {
            words.append("off")
        } else if let next = source.next {
            words.append("next \(next.clock(on: now))")
        } else {
            words.append("not scheduled")
        }
        self.init(source.name, words.joined(separator: ", "))
    }

    init(_ transfer: Transfer) {
        let arrow = transfer.direction == .get ? "↓" : "↑"
        let file = transfer.destination.split(separator: "/").last.map(String.init) ?? transfer.destination
        let name = "\(transfer.id) \(arrow) \(file)"
        switch transfer.state {
        case .done:
            self.init(name, "done, \((transfer.total ?? transfer.received).inBytes)")
        case .failed:
            self.init(name, "failed" + (transfer.error.map { ": \($0)" } ?? ""))
        case .cancelled:
            self.init(name, "cancelled")
        case .queued, .waiting, .running, .verifying, .moving, .paused:
            let received = transfer.received.inBytes
            let size = transfer.total.map { "\(received) of \($0.inBytes)" } ?? received
            self.init(name, "\(transfer.stateText), \(size)", share: transfer.share)
        }
    }
}

extension Transfer {
    /// The transferred share, from 0 to 1; `nil` while the size is unknown.
    var share: Double? {
        total.flatMap { $0 > 0 ? min(1, max(0, Double(received) / Double($0))) : nil }
    }
}

extension FetchResult {
    /// The result in words: `new data`, `no new data` or `failed`.
    var words: String {
        switch self {
        case .newData: "new data"
        case .noData: "no new data"
        case .failed: "failed"
        }
    }
}

extension PublisherStatus {
    /// The acknowledged points a second, such as `0.9 points/s`; `nil` without any.
    var shownRate: String? { rate.map { "\($0.decimals($0 < 10 ? 1 : 0)) points/s" } }
}

extension Glance {
    /// Creates the line of `publisher`: its state, its backlog, and why that waits.
    init(_ publisher: PublisherStatus) {
        let why = publisher.why.map { ": \($0)" } ?? ""
        let rate = publisher.shownRate.map { ", \($0)" } ?? ""
        self.init(publisher.name, "\(publisher.state.rawValue), backlog \(publisher.backlog)\(rate)\(why)")
    }
}
