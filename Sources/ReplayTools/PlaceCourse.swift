import BackgrounderAPI
import FoundationEssentials
import Places
import SystemSupport

/// The places of files and what is decided about them, without a service.
struct PlaceCourse: Sendable {
    private let places: [PlaceDefinition]
    private let monitored: [MonitoredPlace]
    private var monitor = PlaceMonitor()

    /// Reads the places of the files at `paths`.
    ///
    /// - Throws: ``PlaceFileFault`` for the first faulty file.
    init(paths: [String]) throws(PlaceFileFault) {
        var places: [PlaceDefinition] = []
        for path in paths { places += try PlaceFile.read(path, refusal: Shape.refusal) }
        self.places = places
        monitored = places.enumerated().compactMap { try? MonitoredPlace(id: Int64($0.offset), $0.element) }
    }

    func name(_ id: Int64) -> String { places[Int(id)].name }

    /// Returns the decisions of a fix.
    mutating func receive(_ location: Location) -> [PlaceDecision] {
        let fix = Self.fix(location)
        while let need = monitor.need(for: fix) {
            switch need {
            case .search(let search): monitor.complete(search, found: found(search.bounds))
            case .places(let ids): monitor.load(ids.map { monitored[Int($0)] }, for: ids)
            }
        }
        return monitor.receive(fix)
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

extension GeographicBounds {
    fileprivate func overlaps(_ other: GeographicBounds) -> Bool {
        minLatitude <= other.maxLatitude && other.minLatitude <= maxLatitude && minLongitude <= other.maxLongitude
            && other.minLongitude <= maxLongitude
    }
}
