import FoundationEssentials

/// Replays a GPX file on a thread of its own.
struct TrackReplay {
    let path: String
    let rate: ReplayRate
    /// Points that were received before; they are read over.
    let skip: Int
    /// When the run began: points before the file's first time count from it.
    let start: Date
    let control: SourceControl

    /// Returns at the end of the file, at damage, or when the control says stop.
    func run() {
        do throws(TrackFault) {
            let reader = try GPXReader(path: path, start: start)
            var pace = ReplayPace(rate: rate)
            while let points = try reader.next() {
                guard replay(points, &pace) else { return }
            }
            _ = control.deliver([.finished(nil)])
        } catch {
            _ = control.deliver([.finished(error)])
        }
    }

    /// Hands over what is due before it waits for the next; false once stopped.
    private func replay(_ points: [TrackPoint], _ pace: inout ReplayPace) -> Bool {
        var items: [SourceItem] = []
        for point in points where point.index >= skip {
            if let due = pace.due(point.fix.time), due > monotonicSeconds() {
                guard control.deliver(items), case .timeout = control.wait(until: due) else { return false }
                items.removeAll()
            }
            items.append(.report(.fix(point.fix)))
        }
        return control.deliver(items)
    }
}

/// When each point of a replay is due, by the steps between the points' times.
private struct ReplayPace {
    let rate: ReplayRate
    private var last: (time: Date, due: Double)?

    init(rate: ReplayRate) {
        self.rate = rate
    }

    /// Seconds of the monotonic clock; `nil` for at once.
    mutating func due(_ time: Date?) -> Double? {
        guard case .times(let factor) = rate, let time else { return nil }
        guard let last else {
            self.last = (time, monotonicSeconds())
            return nil
        }
        // A step back, or one over a pause in the recording, is no time that passed.
        let step = time.timeIntervalSince(last.time)
        let due = last.due + (step > 0 && step <= Judgement.longestPause ? step / factor : 0)
        self.last = (time, due)
        return due
    }
}
