package import BackgrounderAPI

/// An area whose places the monitor asks for.
package struct PlaceSearch: Hashable, Sendable {
    /// One or two boxes; none of them contains the antimeridian.
    package let bounds: [GeographicBounds]
    let center: Position
    /// In metres.
    let radius: Double

    /// Creates the search of everything within `radius` metres of a position.
    package init(around center: Position, radius: Double) {
        self.center = center
        self.radius = radius
        bounds = GeographicBounds(around: center.coordinate, within: radius).withoutAntimeridian
    }
}

/// A place as an index knows it.
package struct IndexedPlace: Hashable, Sendable {
    package var id: Int64
    /// A box that contains the shape; of a shape across the antimeridian one of its boxes.
    package var bounds: GeographicBounds

    /// Creates an entry of an index.
    package init(id: Int64, bounds: GeographicBounds) {
        self.id = id
        self.bounds = bounds
    }
}

/// The places around the machine, and how far it must move before each of them matters.
///
/// Distant places are boxes. Their definitions are loaded when the machine comes near. No place is looked at before the machine has
/// moved as far as its distance allows.
struct Neighbourhood: Sendable {
    private struct Near {
        var place: MonitoredPlace
        /// The ``odometer`` at which the place matters.
        var due: Double
        /// Whether the place has not been judged since it was loaded.
        var isFirst = true
    }

    /// The boxes of places that are not loaded, and the places that are.
    private var distant: [Int64: [GeographicBounds]] = [:]
    private var near: [Int64: Near] = [:]
    private var search: PlaceSearch?
    /// When the machine could reach each distant place, and when each near one matters: values of the odometer.
    private var distantQueue = DueQueue()
    private var nearQueue = DueQueue()
    /// Places that matter at each fix.
    private var active: Set<Int64> = []
    /// The length of the way through all fixes, in metres.
    private var odometer = 0.0
    private let reach: PlaceReach
    /// The speed up to which the queues are valid, in metres per second.
    private var speedLimit = Self.leastSpeedLimit
    /// How far a search reaches beyond what matters now, in metres.
    private var spare = Self.firstSpare

    /// Nearer boundaries matter at each fix, in metres.
    static let nearby = 50.0
    private static let leastSpeedLimit = 5.0
    private static let firstSpare = 1_000.0
    private static let spares = 500.0...64_000
    /// Tuned: how many places a search should find. Fewer searches cost less than many places.
    private static let wantedPlaces = 8...64

    init(reach: PlaceReach) { self.reach = reach }

    // MARK: Loading

    /// How near a place matters at the present speed, in metres.
    private var matters: Double { reach.distance(speed: speedLimit) + Self.nearby }

    /// Returns the area to search before the fix at `position` can be judged; `nil` if the places around it are known.
    ///
    /// - Parameter step: the distance from the fix before, in metres; 0 if the two are not connected.
    func search(at position: Position, step: Double) -> PlaceSearch? {
        let needed = max(matters, step)
        if let search, search.center.distance(to: position) + needed <= search.radius { return nil }
        return PlaceSearch(around: position, radius: needed + spare)
    }

    /// Returns the places that matter at `position` and are not loaded.
    ///
    /// - Parameters:
    ///   - step: as for ``search(at:step:)``.
    ///   - way: the distance from the fix before, in metres.
    mutating func missing(at position: Position, step: Double, way: Double) -> [Int64] {
        let (odometer, needed) = (odometer + way, max(matters, step))
        var ids: [Int64] = []
        var coordinate: Coordinate?
        while let item = distantQueue.popFirst(upTo: odometer + needed) {
            guard let boxes = distant[item.id] else { continue }
            let here = coordinate ?? position.coordinate
            coordinate = here
            let distance = boxes.map { $0.distanceBound(from: here) }.min() ?? 0
            // Near, too, if the box is damaged and the distance is not a number.
            guard distance > needed else {
                ids.append(item.id)
                continue
            }
            distantQueue.insert(item.id, due: odometer + distance)
        }
        for id in ids { distantQueue.insert(id, due: 0) }
        return ids
    }

    /// Replaces the places by those that a search found and those in `kept`. Loaded ones stay loaded.
    mutating func replace(_ search: PlaceSearch, found: [IndexedPlace], kept: some Sequence<Int64>) {
        self.search = search
        distant = [:]
        distantQueue = DueQueue()
        let loaded = near
        near = [:]
        for place in found {
            if let known = loaded[place.id] {
                near[place.id] = known
            } else {
                distant[place.id, default: []].append(place.bounds)
            }
        }
        for id in kept where near[id] == nil {
            if let known = loaded[id] { near[id] = known } else { distant[id] = [] }
        }
        active.formIntersection(near.keys)
        for id in distant.keys { distantQueue.insert(id, due: 0) }
        let count = near.count + distant.count
        if count < Self.wantedPlaces.lowerBound {
            spare = min(spare * 2, Self.spares.upperBound)
        } else if count > Self.wantedPlaces.upperBound {
            spare = max(spare / 2, Self.spares.lowerBound)
        }
    }

    /// Adds the places of `ids`; those that are not in `loaded` do not exist any more.
    mutating func add(_ loaded: [MonitoredPlace], for ids: [Int64]) {
        for id in ids { distant[id] = nil }
        for place in loaded {
            near[place.id] = Near(place: place, due: 0)
            active.insert(place.id)
        }
    }

    /// Forgets a place.
    mutating func remove(_ id: Int64) {
        near[id] = nil
        distant[id] = nil
        active.remove(id)
    }

    /// Forgets which area was searched.
    mutating func invalidate() { search = nil }

    func place(_ id: Int64) -> MonitoredPlace? { near[id]?.place }

    // MARK: Judging

    /// Adapts to a speed in metres per second.
    mutating func setSpeed(_ speed: Double) {
        guard speed > speedLimit || speed < speedLimit / 3 && speedLimit > Self.leastSpeedLimit else { return }
        speedLimit = max(1.25 * speed, Self.leastSpeedLimit)
        guard reach.isByTime else { return }
        active = Set(near.keys)
        nearQueue = DueQueue()
    }

    /// Calls `judge` for each place that matters, in no order. It returns how far the machine must move before the place matters
    /// again, in metres.
    ///
    /// - Parameter way: the distance from the fix before, in metres.
    mutating func visit(way: Double, judge: (MonitoredPlace, _ isFirst: Bool, _ speedLimit: Double) -> Double) {
        odometer += way
        while let item = nearQueue.popFirst(upTo: odometer) {
            if let entry = near[item.id], entry.due == item.due { active.insert(item.id) }
        }
        for id in active {
            guard let entry = near[id] else { continue }
            let slack = judge(entry.place, entry.isFirst, speedLimit)
            let due = odometer + max(0, slack)
            if slack > 0 {
                active.remove(id)
                nearQueue.insert(id, due: due)
            }
            if entry.isFirst || slack > 0 { near[id] = Near(place: entry.place, due: due, isFirst: false) }
        }
    }
}

/// How far ahead watches want to know about places.
struct PlaceReach: Sendable {
    private var meters = 0.0
    private var seconds = 0.0

    init(_ watches: some Sequence<PlaceWatch>) {
        for watch in watches where watch.isValid {
            switch watch {
            case .dwell: break
            case .eta(let value): seconds = max(seconds, value)
            case .within(let value): meters = max(meters, value)
            }
        }
    }

    var isByTime: Bool { seconds > 0 }

    /// The distance at up to `speed` metres per second, in metres; at most 50 km, so that a search does not load everything.
    func distance(speed: Double) -> Double { min(max(meters, seconds * speed), 50_000) }
}
