import BackgrounderAPI
import Dispatch
import Foundation
import LocationUpdates
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

/// A running location manager with a journal in memory; it records the manager's events.
final class LocationRig: Sendable {
    let manager: LocationManager
    let journal: MemoryJournal
    let heard = Mutex<[LocationEvent]>([])
    let log = LogLines()
    private let signal = Signal()
    private let group: ServiceGroup
    private let task: Task<Void, any Error>

    /// Continues from the state in `journal`; the machine's clock always shows `now`.
    init(
        _ source: String,
        settings: LocationSettings = LocationSettings(),
        journal: MemoryJournal = MemoryJournal(),
        clock: any Clock<Duration> = ContinuousClock(),
        recorder: GPSDRecorder? = nil,
        now: Date = time(0),
        rest: @escaping @Sendable (DesiredAccuracy) -> Duration? = { $0.rest }
    ) async throws {
        self.journal = journal
        let relay = Relay()
        let log = log
        manager = LocationManager(
            settings: settings,
            source: try LocationSource(source, relativeTo: "/"),
            checkpoint: try await journal.checkpoint(),
            track: await journal.points,
            journal: journal,
            clock: clock,
            now: { now },
            rest: rest,
            logger: Logger(label: "test") { _ in log },
            recorder: recorder,
            onEvent: { event in relay.receiver.withLock { $0 }?(event) }
        )
        group = ServiceGroup(services: [manager], logger: Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() })
        task = Task { [group] in try await group.run() }
        relay.receiver.withLock { receiver in
            receiver = { [weak self] event in
                guard let self else { return }
                heard.withLock { $0.append(event) }
                signal.post()
            }
        }
        signal.post()
    }

    /// Returns the first status that satisfies `condition`.
    @discardableResult
    func wait(
        for what: String,
        within seconds: Double = 60,
        _ condition: (LocationStatus) -> Bool
    ) async throws -> LocationStatus {
        do {
            return try await signal.wait(for: what, within: seconds) {
                let status = await manager.status()
                return condition(status) ? status : nil
            }
        } catch {
            Issue.record("\(error): \(await manager.status())")
            throw error
        }
    }

    /// Shuts down gracefully, as the service does.
    func shutDown() async throws {
        await group.triggerGracefulShutdown()
        try await task.value
    }

    var locations: [Location] {
        heard.withLock { heard in
            heard.flatMap { event -> [Location] in
                if case .locations(let locations, _) = event { locations } else { [] }
            }
        }
    }

    var passed: [PassedFix] {
        heard.withLock { heard in
            heard.flatMap { event -> [PassedFix] in
                if case .passed(let fixes) = event { fixes } else { [] }
            }
        }
    }

    private final class Relay: Sendable {
        let receiver = Mutex<(@Sendable (LocationEvent) -> Void)?>(nil)
    }
}

/// A journal in memory that keeps the checkpoint as bytes, as the store does.
actor MemoryJournal: LocationJournal {
    struct Full: Error {}

    private struct Content {
        var points: [Location]
        /// Keyed by the number of their first points, counted from 1.
        var trips: [Int: Trip]
        var bytes: Data?
        var commits = 0
        var durableCommits = 0
        /// The content after each commit.
        var moments: [(points: Int, bytes: Data)] = []
        var isFull = false
    }

    private nonisolated let content: Mutex<Content>
    /// Held while commits must wait.
    private nonisolated let gate = DispatchSemaphore(value: 1)

    var points: [Location] { content.withLock { $0.points } }
    var trips: [Int: Trip] { content.withLock { $0.trips } }
    var bytes: Data? { content.withLock { $0.bytes } }
    var commits: Int { content.withLock { $0.commits } }
    var durableCommits: Int { content.withLock { $0.durableCommits } }
    var moments: [(points: Int, bytes: Data)] { content.withLock { $0.moments } }

    nonisolated func commit(
        _ accepted: [Location],
        isLive: Bool,
        trips: [TripRecord],
        checkpoint: LocationCheckpoint,
        durable: Bool
    ) throws {
        gate.wait()
        gate.signal()
        let bytes = try JSONEncoder().encode(checkpoint)
        let stored = try content.withLock { content in
            if content.isFull { throw Full() }
            content.bytes = bytes
            content.points += accepted
            for record in trips { content.trips[content.points.count - record.pointsAfterFirst] = record.trip }
            content.commits += 1
            content.moments.append((content.points.count, bytes))
            if durable { content.durableCommits += 1 }
            return content.points.count
        }
        let counts = try JSONDecoder().decode(LocationCheckpoint.self, from: bytes).counts
        #expect(counts.accepted == stored, "counts and points belong to one transaction")
    }

    func checkpoint() throws -> LocationCheckpoint? {
        try bytes.map { try JSONDecoder().decode(LocationCheckpoint.self, from: $0) }
    }

    func setFull(_ isFull: Bool) {
        content.withLock { $0.isFull = isFull }
    }

    /// Makes commits wait, as on a disk that does not respond.
    func setStalled(_ isStalled: Bool) {
        if isStalled { gate.wait() } else { gate.signal() }
    }

    /// Returns the journal that a service would find after a crash at this moment.
    func copy() -> MemoryJournal {
        content.withLock { MemoryJournal(points: $0.points, trips: $0.trips, bytes: $0.bytes) }
    }

    init(points: [Location] = [], trips: [Int: Trip] = [:], bytes: Data? = nil) {
        content = Mutex(Content(points: points, trips: trips, bytes: bytes))
    }
}
