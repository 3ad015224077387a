import BackgrounderAPI
import Foundation
import Places
import PlacesSimulation
import SystemSupport
import Testing

/// A monitor with places on flat ground, and fixes at given seconds.
struct MonitorScript {
    var monitor: PlaceMonitor
    private let places: [PlaceDefinition]
    private let watches: [PlaceWatch]
    private var last: (time: Double, point: GroundPoint)?

    /// Creates a script with circles or other places, with the ids 0, 1, ….
    init(_ places: [PlaceDefinition] = [Trials.circle(50)], watches: [PlaceWatch] = []) {
        self.places = places
        self.watches = watches
        monitor = Trials.monitor(places, watches: watches)
    }

    static func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(seconds: 1_000 + seconds) }
    static func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_800_000_000 + seconds) }

    /// Feeds a fix that many metres east and north of the origin.
    @discardableResult
    mutating func fix(
        at seconds: Double,
        _ east: Double,
        _ north: Double = 0,
        accuracy: Double? = 5,
        speed: Double? = nil,
        course: Double? = nil
    ) -> [PlaceDecision] {
        last = (seconds, GroundPoint(east, north))
        let fix = PlaceFix(
            timestamp: Self.date(seconds),
            arrival: Self.time(seconds),
            coordinate: GroundPoint(east, north).coordinate,
            accuracy: accuracy,
            speed: speed,
            course: course
        )
        return monitor.receive(fix)
    }

    /// Moves in a straight line to a point, with a fix each second.
    mutating func move(to east: Double, _ north: Double = 0, speed: Double, reported: Double? = nil) -> [PlaceDecision]
    {
        guard let last else { return [] }
        let (dx, dy) = (east - last.point.east, north - last.point.north)
        let length = (dx * dx + dy * dy).squareRoot()
        let course = atan2(dx, dy) * 180 / .pi
        var decisions: [PlaceDecision] = []
        for second in 1...max(1, Int(length / speed)) {
            let share = min(1, Double(second) * speed / length)
            decisions += fix(
                at: last.time + Double(second),
                last.point.east + share * dx,
                last.point.north + share * dy,
                speed: reported ?? speed,
                course: course < 0 ? course + 360 : course
            )
        }
        return decisions
    }

    /// Stays for some seconds, with a fix each second.
    mutating func stay(_ seconds: Int) -> [PlaceDecision] {
        guard let last else { return [] }
        return (1...seconds).flatMap { fix(at: last.time + Double($0), last.point.east, last.point.north, speed: 0) }
    }

    /// Saves the state as JSON and continues with a new monitor, `after` seconds after the last fix.
    mutating func restart(after seconds: Double) throws {
        let json = try JSONEncoder().encode(monitor.state)
        let state = try JSONDecoder().decode(PlaceMonitor.State.self, from: json)
        let now = (last?.time ?? 0) + seconds
        monitor = PlaceMonitor(state, watches: watches, now: Self.date(now), arrival: Self.time(now))
        let origin = try #require(Position(GroundPoint(0, 0).coordinate))
        monitor.complete(PlaceSearch(around: origin, radius: 1_000_000), found: [])
        let all = try places.enumerated().map { try MonitoredPlace(id: Int64($0), $1, watches: watches) }
        monitor.load(all, for: all.map(\.id))
    }
}
