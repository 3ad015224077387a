package import BackgrounderAPI
package import FoundationEssentials
package import Logging
import ServiceLifecycle
import SystemSupport

/// The places mode: decides from fixes what happens at places and which rules fire, stores it, and then publishes it.
///
/// If the journal fails, decisions continue: the events wait in memory, at most ``waitingLimit`` of them, and rules judge
/// them with the next commit. So an action starts only after it was stored, and never twice.
package actor PlaceObserver: Service {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let executor = QueueExecutor("backgrounder.places")
    private let fixes: AsyncStream<[PlaceFix]>
    private let inlet: AsyncStream<[PlaceFix]>.Continuation
    private let journal: any PlaceJournal
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let onEvents: @Sendable (RuledEvents) -> Void
    private let onSpeech: @Sendable ([String]) -> Void
    private var monitor: PlaceMonitor
    private var recent: [PlaceFix]
    private var book: PlaceRuleBook
    private var follower: RouteFollower?
    /// Events that could not be stored yet.
    private var waiting: [PlaceOccasion] = []
    /// Firings at places that do not exist any more.
    private var obsolete: [PlaceFiring.Key] = []
    private var isFailing = false
    /// Waits for the next deadline of the monitor.
    private var timer: (deadline: MonotonicTime, task: Task<Void, Never>)?
    /// The texts that rules may speak at the places around, the newest first.
    private var texts: [String] = []

    /// Batches of fixes that may wait while the disk hangs. Tuned: an hour at 1 Hz.
    private static let backlog = 3600
    /// Events that may wait in memory while the journal cannot be written.
    static let waitingLimit = 1000
    /// Texts that are rendered ahead. Tuned: those of a hundred places around.
    private static let mostTexts = 200

    /// Creates an observer that continues from `state`.
    ///
    /// - Parameters:
    ///   - recent: the newest fixes before the restart, in their order. A crash may have come before they were judged.
    ///   - book: the rules, and their firings so far.
    ///   - follower: the route, and how far the machine has come on it.
    ///   - onEvents: called in the order of the events, after they were stored; must return immediately.
    ///   - onSpeech: called with texts that rules may speak soon, the most likely first; must return immediately.
    package init(
        _ state: PlaceMonitor.State?,
        recent: [PlaceFix] = [],
        book: PlaceRuleBook = PlaceRuleBook([]),
        follower: RouteFollower? = nil,
        journal: any PlaceJournal,
        clock: any Clock<Duration>,
        now: Date = Date(),
        logger: Logger,
        onEvents: @escaping @Sendable (RuledEvents) -> Void,
        onSpeech: @escaping @Sendable ([String]) -> Void = { _ in }
    ) {
        let watches = book.watches
        monitor =
            state.map { PlaceMonitor($0, watches: watches, now: now, arrival: .now) } ?? PlaceMonitor(watches: watches)
        self.recent = recent
        self.book = book
        self.follower = follower
        self.follower?.setWatches(watches)
        self.journal = journal
        self.clock = clock
        self.logger = logger
        self.onEvents = onEvents
        self.onSpeech = onSpeech
        (fixes, inlet) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.backlog))
    }

    /// Judges fixes until the graceful shutdown.
    package func run() async throws {
        loadVisited()
        catchUp()
        await withTaskCancellationOrGracefulShutdownHandler {
            for await batch in fixes { receive(batch) }
        } onCancelOrGracefulShutdown: { [inlet] in
            inlet.finish()
        }
        timer?.task.cancel()
        commit([])
    }

    /// Takes fixes that passed the gate and the rules of time, in their order. Any thread; returns immediately.
    package nonisolated func observe(_ fixes: [PlaceFix]) { inlet.yield(fixes) }

    // MARK: Places and rules

    /// Looks at the places again. `ids` were removed or have another shape, so what is known of them is forgotten.
    package func placesChanged(_ ids: [Int]) {
        let existing = (try? journal.places(ids.map(Int64.init)).map(\.id)) ?? ids
        obsolete += book.placesRemoved(Set(ids).subtracting(existing))
        monitor.placesChanged(ids.map(Int64.init))
        // Tags decide which watches a place has.
        if !book.watches.isEmpty { monitor.setWatches(book.watches) }
        loadVisited()
        commit([])
    }

    /// Replaces the rules.
    package func setRules(_ rules: [PlaceRule]) {
        book.setRules(rules)
        monitor.setWatches(book.watches)
        follower?.setWatches(book.watches)
        texts = []
        loadVisited()
    }

    /// Follows another route, or none.
    package func follow(_ follower: RouteFollower?) {
        self.follower = follower
        self.follower?.setWatches(book.watches)
        commit([])
    }

    /// Returns the route, and how far the machine has come on it.
    package func route() -> PlaceRouteProgress? { follower?.progress }

    /// Returns since when the machine has been inside of each place that it is inside of.
    package func visits() -> [Int: Date] {
        Dictionary(uniqueKeysWithValues: monitor.visits.map { (Int($0), $1.since) })
    }

    /// Makes the rules judge an event at `place` that did not happen, and stores it.
    ///
    /// - Throws: the error of the journal.
    package func simulate(_ event: PlaceEvent, at place: Place) throws -> RuledEvents {
        let occasion = PlaceOccasion(
            event: event,
            place: place.definition,
            radius: try? Shape(place.definition.shape).radius,
            arrival: .now,
            origin: .simulated
        )
        return try store([occasion])
    }

    // MARK: Fixes

    /// Stores the events that wait in memory. Call it when the journal can be written again.
    package func storeWaiting() {
        if isFailing { commit([]) }
    }

    /// Judges the fixes that the service received before a crash and did not judge.
    private func catchUp() {
        receive(monitor.unjudged(recent))
        recent = []
        monitor.resume()
    }

    private func receive(_ batch: [PlaceFix]) {
        for fix in batch {
            do {
                try supply(fix)
            } catch {
                report("Cannot read the places: \(error); no event is decided meanwhile")
                return
            }
            let occasions = follow(fix) + monitor.receive(fix).filter(isWanted).map(occasion)
            if !occasions.isEmpty { commit(occasions) }
        }
        armTimer()
    }

    /// Returns whether a decision counts. On a route, only its shape tells which stop comes next.
    private func isWanted(_ decision: PlaceDecision) -> Bool {
        guard decision.event == .approach, let follower, follower.isUnderWay else { return true }
        return !follower.isStop(decision.placeId) && !isTaggedStop(decision.placeId)
    }

    private func isTaggedStop(_ id: Int64) -> Bool {
        (try? journal.places([id]).first?.definition.tags.contains("stop")) ?? false
    }

    /// Judges a fix on the route, and returns the events at its stops.
    private func follow(_ fix: PlaceFix) -> [PlaceOccasion] {
        guard let decided = follower?.receive(fix), !decided.isEmpty else { return [] }
        for (decision, _) in decided where decision.kind != .approach {
            if let line = follower?.line(decision) { logger.info("Route: \(line.withoutControlCharacters)") }
        }
        let occasions = decided.compactMap { decision, place in place.flatMap { occasion(decision, at: $0) } }
        // How far the machine has come survives a restart.
        if occasions.isEmpty { commit([]) }
        return occasions
    }

    /// Supplies the monitor with the places around `fix`.
    private func supply(_ fix: PlaceFix) throws {
        while let need = monitor.need(for: fix) {
            switch need {
            case .search(let search): monitor.complete(search, found: try journal.index(overlapping: search.bounds))
            case .places(let ids): try load(ids)
            }
        }
    }

    /// Supplies the monitor with the places that the machine is inside of, so that `dwell` does not wait for a fix.
    private func loadVisited() {
        let ids = monitor.visits.keys.sorted()
        if !ids.isEmpty {
            do { try load(ids) } catch { report("Cannot read the places: \(error); no event is decided meanwhile") }
        }
        armTimer()
    }

    private func load(_ ids: [Int64]) throws {
        let places = try journal.places(ids)
        monitor.load(places.compactMap(monitored), for: ids)
        let new = places.flatMap { book.speech(at: $0.definition) }
        guard !new.isEmpty else { return }
        var known: Set<String> = []
        texts = Array((new + texts).filter { known.insert($0).inserted }.prefix(Self.mostTexts))
        onSpeech(texts)
    }

    private func monitored(_ place: Place) -> MonitoredPlace? {
        do throws(ShapeError) {
            return try MonitoredPlace(
                id: Int64(place.id),
                place.definition,
                watches: book.watches(of: place.definition)
            )
        } catch {
            logger.error("The place \(place.id) cannot be observed: \(error)")
            return nil
        }
    }

    // MARK: Time

    /// Waits for the end of the next time of `dwell`, because no fix may arrive until then.
    private func armTimer() {
        let deadline = monitor.nextDeadline
        guard deadline != timer?.deadline else { return }
        timer?.task.cancel()
        timer = deadline.map { deadline in
            let task = Task { [clock] in
                guard (try? await clock.sleep(for: MonotonicTime.now.duration(to: deadline))) != nil else { return }
                deadlinePassed()
            }
            return (deadline, task)
        }
    }

    private func deadlinePassed() {
        timer = nil
        let decisions = monitor.deadlinePassed(at: .now)
        if !decisions.isEmpty { commit(decisions.map(occasion)) }
        armTimer()
    }

    // MARK: Events

    private func occasion(_ decision: PlaceDecision) -> PlaceOccasion {
        // Its name may have changed since the place was loaded.
        let place = try? journal.places([decision.placeId]).first
        let definition =
            place?.definition
            ?? PlaceDefinition(
                name: "\(decision.placeId)",
                shape: .circle(center: decision.fix.coordinate, radius: 1)
            )
        return PlaceOccasion(
            decision,
            at: definition,
            radius: try? Shape(definition.shape).radius,
            tripId: try? journal.openTrip(),
            arrival: decision.event == .dwell ? .now : nil
        )
    }

    /// Returns the event of a decision about a stop if rules may want it.
    private func occasion(_ decision: RouteDecision, at id: Int) -> PlaceOccasion? {
        let kind: PlaceEventKind
        switch decision.kind {
        case .next: kind = .next
        case .approach: kind = .approach
        case .join, .arrive, .leave, .skip, .diversionBegin, .diversionEnd, .finish: return nil
        }
        guard let place = try? journal.places([Int64(id)]).first else { return nil }
        if let watch = decision.watch, !book.watches(of: place.definition).contains(watch) { return nil }
        let event = PlaceEvent(
            id: 0,
            placeId: id,
            place: place.definition.name,
            event: kind,
            timestamp: decision.timestamp,
            latitude: decision.fix.coordinate.latitude,
            longitude: decision.fix.coordinate.longitude,
            accuracy: decision.fix.accuracy,
            distance: -(decision.distance ?? 0),
            eta: decision.eta.map { max(0, $0) },
            estimated: decision.estimated ? true : nil,
            tripId: try? journal.openTrip()
        )
        return PlaceOccasion(
            event: event,
            watch: decision.watch,
            place: place.definition,
            radius: try? Shape(place.definition.shape).radius,
            arrival: decision.fix.arrival
        )
    }

    private func commit(_ occasions: [PlaceOccasion]) {
        waiting += occasions
        if waiting.count > Self.waitingLimit { waiting.removeFirst(waiting.count - Self.waitingLimit) }
        do {
            let stored = try store(waiting)
            waiting = []
            if isFailing { logger.notice("Storing the events at places again") }
            isFailing = false
            if !stored.events.isEmpty { onEvents(stored) }
        } catch {
            report("Cannot store the events at places; up to \(Self.waitingLimit) wait in memory: \(error)")
        }
    }

    /// Makes the rules judge `occasions`, and stores all of it. If that fails, nothing has happened.
    private func store(_ occasions: [PlaceOccasion]) throws -> RuledEvents {
        var next = book
        let ruling = next.judge(occasions, at: .now)
        let events = zip(occasions, ruling.actions).map { occasion, actions in
            var event = occasion.event
            event.actions = actions
            return event
        }
        let changes = PlaceChanges(
            events: events,
            state: monitor.state,
            route: follower?.state,
            saved: ruling.saved,
            removed: ruling.removed + obsolete
        )
        let stored = try journal.commit(changes)
        (book, obsolete) = (next, [])
        return RuledEvents(events: stored, due: ruling.due)
    }

    private func report(_ line: String) {
        if !isFailing { logger.error("\(line)") }
        isFailing = true
    }
}
