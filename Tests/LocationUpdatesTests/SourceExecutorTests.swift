import BackgrounderAPI
import Dispatch
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import LocationUpdates

@Suite struct SourceExecutorTests {
    @Test func `the manager answers while the journal waits for the disk, and continues after it`() async throws {
        let scratch = try ScratchDirectory()
        let point = "<trkpt lat=\"48\" lon=\"11\"><time>2026-11-21T08:00:00Z</time></trkpt>"
        let track = try scratch.write("<gpx><trk><trkseg>\(point)</trkseg></trk></gpx>", to: "point.gpx")
        let journal = HangingJournal()
        let heard = Signal()
        let manager = LocationManager(
            settings: LocationSettings(),
            source: try LocationSource("gpx:\(track)?rate=max", relativeTo: "/"),
            checkpoint: nil,
            track: [],
            journal: journal,
            clock: ContinuousClock(),
            logger: Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() },
            onEvent: { _ in heard.post() }
        )
        let group = ServiceGroup(
            services: [manager],
            logger: Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() }
        )
        let task = Task { try await group.run() }
        _ = try await journal.entered.wait(for: "the first commit") { journal.isEntered.withLock { $0 } ? true : nil }
        let status = await manager.status()
        #expect(status.received == 0, "nothing is shown before it is stored")
        #expect(status.connection == .replaying, "nothing is shown before it is stored")
        journal.disk.signal()
        _ = try await heard.wait(for: "the point") { await manager.status().accepted == 1 ? true : nil }
        await group.triggerGracefulShutdown()
        try await task.value
    }
}

/// A journal whose first commit hangs until `disk` is signalled.
private final class HangingJournal: LocationJournal {
    let entered = Signal()
    let isEntered = Mutex(false)
    let disk = DispatchSemaphore(value: 0)

    func commit(
        _ accepted: [Location],
        isLive: Bool,
        trips: [TripRecord],
        checkpoint: LocationCheckpoint,
        durable: Bool
    ) {
        let isFirst = isEntered.withLock { isEntered in
            defer { isEntered = true }
            return !isEntered
        }
        entered.post()
        if isFirst { disk.wait() }
    }
}
