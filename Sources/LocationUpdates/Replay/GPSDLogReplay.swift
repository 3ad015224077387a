import FoundationEssentials

/// Replays a log of gpsd on a thread of its own.
struct GPSDLogReplay {
    let path: String
    let rate: ReplayRate
    /// Fixes that were received before; they and what came before the last of them are read over.
    let skip: Int
    let control: SourceControl

    /// Returns at the end of the file, when it cannot be read on, or when the control says stop.
    func run() {
        do throws(TrackFault) {
            let reader = try GPSDLogReader(path: path)
            var pace = ReplayPace(rate: rate)
            // What belongs to the next fix goes with it: a checkpoint that counts a fix has all before it and nothing after it.
            var evidence: [SourceItem] = []
            while let reports = try reader.next() {
                guard replay(reports, &evidence, &pace) else { return }
            }
            _ = control.deliver(evidence + (reader.oddLines.map { [.oddLines($0)] } ?? []) + [.finished(nil)])
        } catch {
            _ = control.deliver([.finished(error)])
        }
    }

    /// Hands over what is due before it waits for the next; false once stopped.
    private func replay(_ reports: [LoggedReport], _ evidence: inout [SourceItem], _ pace: inout ReplayPace) -> Bool {
        var items: [SourceItem] = []
        for logged in reports {
            evidence.append(.report(logged.report))
            guard let index = logged.index else { continue }
            if index >= skip {
                if let due = pace.due(Date(timeIntervalSinceReferenceDate: logged.instant)), due > monotonicSeconds() {
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
