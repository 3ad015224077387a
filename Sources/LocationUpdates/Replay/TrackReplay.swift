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
