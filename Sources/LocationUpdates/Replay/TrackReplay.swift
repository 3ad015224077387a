import FoundationEssentials
import SystemSupport

/// Replays a GPX file on a thread of its own.
struct TrackReplay {
    let path: String
    let rate: ReplayRate
    /// The number of points that were received before and are skipped.
    let skip: Int
    /// The start of the run: points before the file's first time count from it.
    let start: Date
    let control: SourceControl

    /// Replays until the end of the file, damage, or a stop by the control.
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

    /// Delivers what is due before waiting for the next point; returns false once stopped.
    private func replay(_ points: [TrackPoint], _ pace: inout ReplayPace) -> Bool {
        var items: [SourceItem] = []
        for point in points where point.index >= skip {
            if let due = pace.due(point.fix.time), due > MonotonicTime.now.seconds {
                guard control.deliver(items), case .timeout = control.wait(until: due) else { return false }
                items.removeAll()
            }
            items.append(.report(.fix(point.fix)))
        }
        return control.deliver(items)
    }
}
