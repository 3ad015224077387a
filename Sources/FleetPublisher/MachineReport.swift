import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// The status document of a machine: what an operator looks at first.
struct MachineReport: Codable, Hashable {
    struct Position: Codable, Hashable {
        var connection: String
        var quality: String?
        var why: String?
    }

    struct Sound: Codable, Hashable {
        var state: String
        var title: String?
        var volume: Int
        var error: String?
    }

    var machine: String
    var groups: [String]
    var version: String
    var state: String
    var location: Position?
    var audio: Sound?
    var health: String?
    var problem: String?
    var dropped: Int
    // The rest changes all the time.
    /// Seconds since 1970.
    var time: Int64 = 0
    var uptime: Int64?
    var backlog = 0
    var fixes: Int?

    init(_ status: ServiceStatus, of publisher: StoredPublisher, _ publishing: PublisherStatus) {
        machine = publisher.machine.description
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
        (report.time, report.uptime, report.backlog, report.fixes) = (0, nil, 0, nil)
        // The detail of the quality has figures of each fix.
        report.location?.why = nil
        return report
    }

    /// Tuned: the document must stay below the limit of a message, 4096 bytes.
    private static func short(_ text: String) -> String { String(text.prefix(200)) }
}
