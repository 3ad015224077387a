import BackgrounderAPI
import FoundationEssentials

extension MachineReport {
    /// Creates the report of this machine to the broker of `publisher`.
    init(_ status: ServiceStatus, of publisher: StoredPublisher, _ publishing: PublisherStatus) {
        self.init(machine: publisher.machine.description)
        groups = publisher.groups.map(\.description)
        version = status.version
        state = status.state.rawValue
        location = status.location.map {
            Position(
                connection: $0.connection.rawValue,
                quality: $0.quality?.rawValue,
                why: ($0.offReason ?? $0.qualityDetail).map(Self.short)
            )
        }
        audio = status.audio.map {
            Sound(
                state: $0.timeControlStatus.rawValue,
                title: ($0.currentItem?.title ?? $0.currentItem?.path).map(Self.short),
                volume: $0.volume,
                error: ($0.lastError?.reason).map(Self.short)
            )
        }
        health = status.health?.state.rawValue
        problem = (status.health?.problems.last?.message).map(Self.short)
        dropped = publishing.dropped
        time = Int64(Date().timeIntervalSince1970)
        uptime = status.uptime.map { Int64($0) }
        backlog = publishing.backlog
        fixes = status.location?.accepted
    }

    /// The document without what changes all the time.
    var steady: MachineReport {
        var report = self
        (report.time, report.uptime, report.backlog, report.fixes) = (nil, nil, nil, nil)
        // The detail of the quality has figures of each fix.
        report.location?.why = nil
        return report
    }

    /// Tuned: the document must stay below the limit of a message, 4096 bytes.
    private static func short(_ text: String) -> String { String(text.prefix(200)) }
}
