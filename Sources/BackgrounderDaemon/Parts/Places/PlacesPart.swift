import BackgroundFetch
import BackgroundTasks
import BackgrounderAPI
import ControlServer
import FoundationEssentials
import LocationUpdates
import Logging
import Places
import ServiceLifecycle
import Speech
import StateStore
import Synchronization
import SystemSupport

/// The places as a part of the service: what happens at them, what rules do then, and the routes that change them.
final class PlacesPart: DaemonPart {
    let context: PartContext
    let observer: PlaceObserver
    let actions: PlaceActions
    let speech: SpeechCache
    private let imports: PlaceImports
    private let fetch: FetchPart
    private let tasks: TasksPart
    /// Reads files with places.
    let reader: QueueExecutor
    /// Without places, fixes wake up nothing.
    private let hasPlaces: Atomic<Bool>

    init(_ context: PartContext, audio: AudioPart, tasks: TasksPart, fetch: FetchPart) async throws {
        self.context = context
        (self.fetch, self.tasks) = (fetch, tasks)
        let configuration = context.initialConfiguration
        let journal = StorePlaceJournal(store: context.store)
        let speech = SpeechCache(
            folder: context.paths.state + "/speech",
            limit: configuration.value(Keys.speechCache),
            renderer: SpeechRenderer(
                voice: configuration.value(Keys.speechVoice),
                speed: configuration.value(Keys.speechSpeed)
            ),
            clock: context.clock,
            logger: context.logger
        )
        self.speech = speech
        let actions = PlaceActions(
            PlaceActions.Workers(
                player: audio.player,
                speech: speech,
                fetch: fetch.scheduler,
                tasks: tasks.scheduler
            ),
            store: context.store,
            folder: RuntimePaths.absolute(configuration.file + "/.."),
            logger: context.logger
        ) { context.events.post(.place($0)) }
        self.actions = actions
        observer = PlaceObserver(
            try journal.saved(logger: context.logger),
            recent: try context.store.newestLocations(100).map(PlaceFix.init(stored:)),
            book: PlaceRuleBook(configuration.placeRules.rules, firings: try journal.firings()),
            follower: try PlaceRoute.follower(context.store, logger: context.logger),
            journal: journal,
            clock: context.clock,
            logger: context.logger
        ) { ruled in
            for event in ruled.events { context.logger.info("\(event.line)") }
            actions.take(ruled)
        } onSpeech: {
            actions.prepare($0)
        }
        let reader = QueueExecutor("backgrounder.places.import")
        self.reader = reader
        imports = PlaceImports(store: context.store, reader: reader, logger: context.logger)
        hasPlaces = Atomic(try await !context.store.places(count: 1).isEmpty)
    }

    var services: [any Service] { [observer, actions, speech] }

    /// Takes fixes that passed the gate and the rules of time. Any thread; returns immediately.
    func observe(_ fixes: [PassedFix]) {
        guard hasPlaces.load(ordering: .relaxed) else { return }
        observer.observe(fixes.map { PlaceFix($0.location, arrival: $0.arrival) })
    }

    func declare(_ configuration: DaemonConfiguration) async throws {
        if let changed = try await imports.update(configuration.value(Keys.placeImports)) {
            try await placesChanged(changed)
        }
        await observer.setRules(configuration.placeRules.rules)
        for fault in try await unknownNames(in: configuration.placeRules) { context.logger.warning("\(fault)") }
    }

    /// Returns a fault for each hook, source, place and tag of the rules that does not exist.
    func unknownNames(in list: PlaceRuleList) async throws -> [PlaceRuleFault] {
        guard !list.rules.isEmpty else { return [] }
        return list.unknownNames(
            hooks: Set(await tasks.scheduler.taskHooks().filter { $0.on == .place }.map(\.name)),
            sources: Set(await fetch.scheduler.list().map(\.name)),
            places: try await context.store.existing(places: list.namedPlaces),
            tags: try await context.store.existing(tags: list.namedTags)
        )
    }

    func storeWaiting() async { await observer.storeWaiting() }

    /// Makes the observer look at the places again, after some were added. `ids` were removed or have another shape.
    func placesChanged(_ ids: [Int]) async throws {
        hasPlaces.store(try await !context.store.places(count: 1).isEmpty, ordering: .relaxed)
        await observer.placesChanged(ids)
    }
}

extension PlaceFix {
    /// Creates the fix of a point that a former process stored. It arrived as long ago as it was measured.
    fileprivate init(stored location: Location) {
        let age = min(max(0, -location.timestamp.timeIntervalSinceNow), 1e9)
        // Perhaps before the start of the machine.
        self.init(location, arrival: .now + .seconds(-age))
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
