import BackgrounderAPI
import FoundationEssentials
import Places
import SystemSupport

/// The places of files and what is decided about them, without a service.
struct PlaceCourse: Sendable {
    private let places: [PlaceDefinition]
    private let monitored: [MonitoredPlace]
    private var monitor: PlaceMonitor
    private var book: PlaceRuleBook

    /// Reads the places of the files at `paths`, where `rules` act.
    ///
    /// - Throws: ``PlaceFileFault`` for the first faulty file.
    init(paths: [String], rules: [PlaceRule]) throws(PlaceFileFault) {
        let book = PlaceRuleBook(rules)
        self.book = book
        monitor = PlaceMonitor(watches: book.watches)
        var places: [PlaceDefinition] = []
        for path in paths { places += try PlaceFile.read(path, refusal: Shape.refusal) }
        self.places = places
        monitored = places.enumerated().compactMap {
            try? MonitoredPlace(id: Int64($0.offset), $0.element, watches: book.watches(of: $0.element))
        }
    }

    func name(_ id: Int64) -> String { places[Int(id)].name }

    /// Returns the events of a fix, with the ids of their places.
    mutating func receive(_ location: Location) -> [(placeId: Int64, event: ReplayedEvent)] {
        let fix = Self.fix(location)
        while let need = monitor.need(for: fix) {
            switch need {
            case .search(let search): monitor.complete(search, found: found(search.bounds))
            case .places(let ids): monitor.load(ids.map { monitored[Int($0)] }, for: ids)
            }
        }
        let decisions = monitor.receive(fix)
        let ruling = book.judge(decisions.map(occasion), at: fix.arrival)
        var events = zip(decisions, ruling.actions).map { decision, actions in
            var event = ReplayedEvent(decision, place: name(decision.placeId))
            event.actions = actions
            return (placeId: decision.placeId, event: event)
        }
        // Nothing else keeps these actions from being done.
        for due in ruling.due {
            events[due.occasion].event.actions[due.action].outcome = .fired
            events[due.occasion].event.actions[due.action].detail = due.operation.inWords
        }
        return events
    }

    private func occasion(_ decision: PlaceDecision) -> PlaceOccasion {
        let place = places[Int(decision.placeId)]
        let radius = monitored.first { $0.id == decision.placeId }?.shape.radius
        return PlaceOccasion(decision, at: place, radius: radius)
    }

    /// Returns the figures of all places within `limit` metres of a fix, and whether the machine is inside of them.
    func figures(_ location: Location, within limit: Double) -> [(id: Int64, figures: PlaceFigures, inside: Bool)] {
        let fix = Self.fix(location)
        let visits = monitor.visits
        return monitored.compactMap { place in
            fix.figures(of: place.shape, within: limit).map { (place.id, $0, visits[place.id] != nil) }
        }
    }

    private func found(_ boxes: [GeographicBounds]) -> [IndexedPlace] {
        monitored.flatMap { place in
            place.shape.bounds.withoutAntimeridian.filter { bounds in
                boxes.contains { $0.overlaps(bounds) }
            }.map { IndexedPlace(id: place.id, bounds: $0) }
        }
    }

    /// A replay's clock is the time of its fixes.
    private static func fix(_ location: Location) -> PlaceFix {
        PlaceFix(location, arrival: MonotonicTime(seconds: location.timestamp.timeIntervalSince1970))
    }
}

extension DueAction.Operation {
    /// The path of the file, the text, or the name of the source or hook.
    fileprivate var inWords: String {
        switch self {
        case .announce(let item, _, _): item
        case .say(let text, _, _): text
        case .fetch(let source): source
        case .task(let hook, _, _, _): hook
        }
    }
}

extension GeographicBounds {
    fileprivate func overlaps(_ other: GeographicBounds) -> Bool {
        minLatitude <= other.maxLatitude && other.minLatitude <= maxLatitude && minLongitude <= other.maxLongitude
            && other.minLongitude <= maxLongitude
    }
}
