import BackgrounderAPI
import Foundation
import Places
import PlacesSimulation
import SystemSupport
import Testing

/// A route on flat ground, and a bus without errors that sends a fix each second.
struct RouteScript {
    var monitor: RouteMonitor
    let route: FollowedRoute
    private let watches: [PlaceWatch]
    private(set) var time = 0.0
    private(set) var point: GroundPoint

    /// The fixes' receiver.
    var accuracy: Double? = 5
    var reportsSpeed = true

    /// A straight street to the east with stops every 500 m.
    static let street = (
        shape: [GroundPoint(0, 0), GroundPoint(2_000, 0)],
        stops: [20.0, 500, 1_000, 1_500, 1_980].map { GroundPoint($0, 0) }
    )

    init(
        _ line: (shape: [GroundPoint], stops: [GroundPoint]) = street,
        watches: [PlaceWatch] = [],
        from start: GroundPoint? = nil
    ) throws {
        route = try FollowedRoute(Self.definition(line))
        self.watches = watches
        monitor = RouteMonitor(route: route, watches: watches)
        point = start ?? line.shape[0]
    }

    static func definition(_ line: (shape: [GroundPoint], stops: [GroundPoint])) -> RouteDefinition {
        RouteDefinition(
            name: "M1",
            stops: line.stops.enumerated().map { index, stop in
                RouteDefinition.Stop(sequence: index + 1, name: "S\(index)", coordinate: stop.coordinate)
            },
            shape: line.shape.map(\.coordinate)
        )
    }

    static func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_800_000_000 + seconds) }

    /// Sends a fix at the present time.
    mutating func fix(_ point: GroundPoint, speed: Double = 0, course: Double? = nil) -> [RouteDecision] {
        self.point = point
        return monitor.receive(
            PlaceFix(
                timestamp: Self.date(time),
                arrival: MonotonicTime(seconds: max(0, 1_000 + time)),
                coordinate: point.coordinate,
                accuracy: accuracy,
                speed: reportsSpeed ? speed : nil,
                course: reportsSpeed ? course : nil
            )
        )
    }

    /// Drives through the points in straight lines.
    mutating func drive(_ points: GroundPoint..., speed: Double = 10) -> [String] {
        points.flatMap { line(to: $0, speed: speed) }.map(Self.text)
    }

    /// Drives in a straight line and returns the whole decisions.
    mutating func line(to end: GroundPoint, speed: Double = 10) -> [RouteDecision] {
        let start = point
        let (east, north) = (end.east - start.east, end.north - start.north)
        let length = hypot(east, north)
        let degrees = atan2(east, north) * 180 / .pi
        let seconds = max(1, Int((length / speed).rounded()))
        return (1...seconds).flatMap { second in
            time += 1
            let share = Double(second) / Double(seconds)
            return fix(
                GroundPoint(start.east + share * east, start.north + share * north),
                speed: speed,
                course: degrees < 0 ? degrees + 360 : degrees
            )
        }
    }

    /// Stands for some seconds.
    mutating func wait(_ seconds: Int) -> [String] {
        (0..<seconds).flatMap { _ in
            time += 1
            return fix(point)
        }
        .map(Self.text)
    }

    /// Lets time pass without a fix, or sets the clock back.
    mutating func pass(_ seconds: Double, to point: GroundPoint? = nil) {
        time += seconds
        if let point { self.point = point }
    }

    /// Continues with a new monitor and the stored state.
    mutating func restart() throws {
        let json = try JSONEncoder().encode(monitor.state)
        let state = try JSONDecoder().decode(RouteMonitor.State.self, from: json)
        monitor = RouteMonitor(route: route, watches: watches, state: state)
    }

    /// Returns the kind and the stop, such as `arrive 2`; `?` marks an unknown time.
    static func text(_ decision: RouteDecision) -> String {
        decision.kind.rawValue + (decision.stop.map { " \($0)" } ?? "") + (decision.estimated ? "?" : "")
    }
}
