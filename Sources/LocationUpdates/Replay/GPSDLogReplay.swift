import FoundationEssentials
import SystemSupport

/// Replays a gpsd log on a thread of its own.
struct GPSDLogReplay {
    let path: String
    let rate: ReplayRate
    /// The number of fixes that were received before; they, and all reports before the last of them, are skipped.
    let skip: Int
    let control: SourceControl

    /// Replays until the end of the file, a fault, or a stop by the control.
    func run() {
        do throws(TrackFault) {
            let reader = try GPSDLogReader(path: path)
            var pace = ReplayPace(rate: rate)
            // Evidence is delivered with the next fix: a checkpoint that counts a fix includes everything before it and nothing
            // after it.
            var evidence: [SourceItem] = []
            while let reports = try reader.next() {
                guard replay(reports, &evidence, &pace) else { return }
            }
            _ = control.deliver(evidence + (reader.oddLines.map { [.oddLines($0)] } ?? []) + [.finished(nil)])
        } catch {
            _ = control.deliver([.finished(error)])
        }
    }

    /// Delivers what is due before waiting for the next report; returns false once stopped.
    private func replay(_ reports: [LoggedReport], _ evidence: inout [SourceItem], _ pace: inout ReplayPace) -> Bool {
        var items: [SourceItem] = []
        for logged in reports {
            evidence.append(.report(logged.report))
            guard let index = logged.index else { continue }
            if index >= skip {
                if let due = pace.due(Date(timeIntervalSinceReferenceDate: logged.instant)),
                    due > MonotonicTime.now.seconds
                {
                    guard control.deliver(items), case .timeout = control.wait(until: due) else { return false }
                    items.removeAll()
                }
                items += evidence
            }
            evidence.removeAll()
        }
        return control.deliver(items)
    }
}
