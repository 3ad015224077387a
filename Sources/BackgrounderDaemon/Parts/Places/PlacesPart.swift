import BackgrounderAPI
import ControlServer
import LocationUpdates
import Logging
import Places
import ServiceLifecycle
import StateStore
import Synchronization
import SystemSupport

/// The places as a part of the service: what happens at them, and the routes that change them.
final class PlacesPart: DaemonPart {
    let context: PartContext
    let observer: PlaceObserver
    /// Reads files with places.
    let reader = QueueExecutor("backgrounder.places.import")
    /// Without places, fixes wake up nothing.
    private let hasPlaces: Atomic<Bool>

    init(_ context: PartContext) async throws {
        self.context = context
        let journal = StorePlaceJournal(store: context.store)
        observer = PlaceObserver(
            try journal.saved(logger: context.logger),
            journal: journal,
            logger: context.logger
        ) { events in
            for event in events {
                context.logger.info("\(event.line)")
                context.events.post(.place(event))
            }
        }
        hasPlaces = Atomic(try await !context.store.places(count: 1).isEmpty)
    }

    var services: [any Service] { [observer] }

    /// Takes fixes that passed the gate and the rules of time. Any thread; returns immediately.
    func observe(_ fixes: [PassedFix]) {
        guard hasPlaces.load(ordering: .relaxed) else { return }
        observer.observe(fixes.map { PlaceFix($0.location, arrival: $0.arrival) })
    }

    func storeWaiting() async { await observer.storeWaiting() }

    /// Makes the observer look at the places again, after some were added. `ids` were removed or have another shape.
    func placesChanged(_ ids: [Int]) async throws {
        hasPlaces.store(try await !context.store.places(count: 1).isEmpty, ordering: .relaxed)
        await observer.placesChanged(ids)
    }
}

extension PlaceEvent {
    /// Such as `enter Harbour: 12.4 m inside, probability 0.97`.
    fileprivate var line: String {
        let metres = (abs(distance) * 10).rounded() / 10
        let certainty = probability.map { ", probability \(($0 * 100).rounded() / 100)" } ?? ""
        return "Place: \(event.rawValue) \(place): \(metres) m \(distance >= 0 ? "inside" : "outside")\(certainty)"
            .withoutControlCharacters
    }
}
