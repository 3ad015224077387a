package import BackgrounderAPI
package import FoundationEssentials
package import Logging
import ServiceLifecycle
import SystemSupport

/// The places mode: decides from fixes what happens at places, stores it, and then publishes it.
///
/// If the journal fails, decisions continue: the events wait in memory, at most ``waitingLimit`` of them, and are part of the next
/// commit.
package actor PlaceObserver: Service {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let executor = QueueExecutor("backgrounder.places")
    private let fixes: AsyncStream<[PlaceFix]>
    private let inlet: AsyncStream<[PlaceFix]>.Continuation
    private let journal: any PlaceJournal
    private let logger: Logger
    private let onEvents: @Sendable ([PlaceEvent]) -> Void
    private var monitor: PlaceMonitor
    /// Events that could not be stored yet.
    private var waiting: [PlaceEvent] = []
    private var isFailing = false

    /// Batches of fixes that may wait while the disk hangs. Tuned: an hour at 1 Hz.
    private static let backlog = 3600
    /// Events that may wait in memory while the journal cannot be written.
    static let waitingLimit = 1000

    /// Creates an observer that continues from `state`.
    ///
    /// - Parameter onEvents: called in the order of the events, after they were stored; must return immediately.
    package init(
        _ state: PlaceMonitor.State?,
        journal: any PlaceJournal,
        now: Date = Date(),
        logger: Logger,
        onEvents: @escaping @Sendable ([PlaceEvent]) -> Void
    ) {
        monitor = state.map { PlaceMonitor($0, watches: [], now: now, arrival: .now) } ?? PlaceMonitor()
        self.journal = journal
        self.logger = logger
        self.onEvents = onEvents
        (fixes, inlet) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.backlog))
    }

    /// Judges fixes until the graceful shutdown.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            for await batch in fixes { receive(batch) }
        } onCancelOrGracefulShutdown: { [inlet] in
            inlet.finish()
        }
        commit([])
    }

    /// Takes fixes that passed the gate and the rules of time, in their order. Any thread; returns immediately.
    package nonisolated func observe(_ fixes: [PlaceFix]) { inlet.yield(fixes) }

    /// Forgets what is known of places that were removed or have another shape, and looks for new ones.
    package func placesChanged(_ ids: [Int]) {
        monitor.placesChanged(ids.map(Int64.init))
        commit([])
    }

    /// Returns since when the machine has been inside of each place that it is inside of.
    package func visits() -> [Int: Date] {
        Dictionary(uniqueKeysWithValues: monitor.visits.map { (Int($0), $1.since) })
    }

    /// Stores the events that wait in memory. Call it when the journal can be written again.
    package func storeWaiting() {
        if isFailing { commit([]) }
    }

    private func receive(_ batch: [PlaceFix]) {
        for fix in batch {
            do {
                try supply(fix)
            } catch {
                report("Cannot read the places: \(error); no event is decided meanwhile")
                return
            }
            let decisions = monitor.receive(fix)
            if !decisions.isEmpty { commit(decisions.map(event)) }
        }
    }

    /// Supplies the monitor with the places around `fix`.
    private func supply(_ fix: PlaceFix) throws {
        while let need = monitor.need(for: fix) {
            switch need {
            case .search(let search): monitor.complete(search, found: try journal.index(overlapping: search.bounds))
            case .places(let ids):
                let places = try journal.places(ids)
                monitor.load(places.compactMap(monitored), for: ids)
            }
        }
    }

    private func monitored(_ place: Place) -> MonitoredPlace? {
        do throws(ShapeError) {
            return try MonitoredPlace(id: Int64(place.id), place.definition)
        } catch {
            logger.error("The place \(place.id) cannot be observed: \(error)")
            return nil
        }
    }

    private func event(_ decision: PlaceDecision) -> PlaceEvent {
        // Its name may have changed since the place was loaded.
        let place = try? journal.places([decision.placeId]).first
        return PlaceEvent(
            id: 0,
            placeId: Int(decision.placeId),
            place: place?.definition.name ?? "\(decision.placeId)",
            event: decision.event,
            timestamp: decision.timestamp,
            latitude: decision.fix.coordinate.latitude,
            longitude: decision.fix.coordinate.longitude,
            accuracy: decision.fix.accuracy,
            distance: decision.distance,
            probability: decision.probability,
            eta: decision.eta,
            estimated: decision.estimated ? true : nil,
            initial: decision.initial ? true : nil
        )
    }

    private func commit(_ events: [PlaceEvent]) {
        waiting += events
        if waiting.count > Self.waitingLimit { waiting.removeFirst(waiting.count - Self.waitingLimit) }
        do {
            let stored = try journal.commit(waiting, monitor.state)
            waiting = []
            if isFailing { logger.notice("Storing the events at places again") }
            isFailing = false
            if !stored.isEmpty { onEvents(stored) }
        } catch {
            report("Cannot store the events at places; up to \(Self.waitingLimit) wait in memory: \(error)")
        }
    }

    private func report(_ line: String) {
        if !isFailing { logger.error("\(line)") }
        isFailing = true
    }
}
