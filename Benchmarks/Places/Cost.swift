import BackgrounderAPI
import Foundation
import Places
import PlacesSimulation
import SystemSupport

/// The cost of a fix with 100,000 places in an area of 100 km × 100 km, beside the same fixes without places.
enum Cost {
    struct Figures: Encodable {
        var name: String
        /// Microseconds for each fix.
        var time: Double
        var without: Double
    }

    struct All: Encodable {
        var drives: [Figures]
        /// How much the resident memory grew, in megabytes.
        var memory: Double
        /// Seconds for 100,000 places.
        var filling: Double
    }

    private static let count = 100_000
    private static let side = 100_000.0

    /// Random places, made one by one, so that they take no memory here.
    private static var places: UnfoldSequence<PlaceDefinition, (random: Randomness, number: Int)> {
        sequence(state: (random: Randomness(seed: 1), number: 0)) { state in
            guard state.number < count else { return nil }
            defer { state.number += 1 }
            return place(state.number, &state.random)
        }
    }

    private static func place(_ number: Int, _ random: inout Randomness) -> PlaceDefinition {
        let center = GroundPoint(random.uniform(-side / 2...side / 2), random.uniform(-side / 2...side / 2))
        let shape: PlaceShape =
            switch number % 5 {
            case 0:
                .polygon(rings: [
                    (0..<10).map { center.coordinate.moved(random.uniform(20...60), course: Double($0) * 36) }
                ])
            case 1:
                .line(
                    points: (0..<5).map { GroundPoint(center.east + Double($0) * 50, center.north).coordinate },
                    width: 30
                )
            default: .circle(center: center.coordinate, radius: 30)
            }
        return PlaceDefinition(name: "Stop \(number)", shape: shape)
    }

    /// Returns the fixes of a drive at 1 Hz that turns now and then and stays in the area.
    private static func fixes(_ count: Int, speed: Double, seed: UInt64) -> [PlaceFix] {
        var random = Randomness(seed: seed)
        var receiver = Receiver(seed: seed + 1)
        var (east, north, course) = (0.0, 0.0, 1.0)
        return (0..<count).map { second in
            if second % 60 == 0 { course += random.uniform(-1...1) }
            if abs(east) > 45_000 || abs(north) > 45_000 { course = atan2(-east, -north) }
            let velocity = GroundPoint(speed * sin(course), speed * cos(course))
            east += velocity.east
            north += velocity.north
            return receiver.fix(at: Double(second), GroundPoint(east, north), velocity: velocity)
        }
    }

    /// Drives with and without places. The database is created at `path`.
    static func figures(fixes count: Int, path: String) throws -> All {
        let drives = [("parked", 0.0), ("at 10 m/s", 10), ("at 30 m/s", 30)].map {
            ($0, Self.fixes(count, speed: $1, seed: 3))
        }
        let memory = memory
        let begin = processorTime
        let index = try PlaceIndex(path: path, places: places)
        let filling = processorTime - begin
        var figures: [Figures] = []
        for (suffix, watches) in [("", []), (", all announced 25 s before", [PlaceWatch.eta(25)])] {
            for (name, fixes) in drives { figures.append(try measure(name + suffix, index, fixes, watches)) }
        }
        let growth = Self.memory - memory
        // The fixes stay, so that their memory does not count.
        return withExtendedLifetime(drives) { All(drives: figures, memory: growth, filling: filling) }
    }

    private static func measure(_ name: String, _ index: PlaceIndex, _ fixes: [PlaceFix], _ watches: [PlaceWatch])
        throws
        -> Figures
    {
        var monitor = PlaceMonitor(watches: watches)
        let start = processorTime
        for fix in fixes {
            try index.supply(&monitor, for: fix, watches: watches)
            _ = monitor.receive(fix)
        }
        let time = processorTime - start
        var empty = PlaceMonitor(watches: watches)
        let emptyStart = processorTime
        for fix in fixes { _ = empty.receive(fix) }
        let emptyTime = processorTime - emptyStart
        return Figures(
            name: name,
            time: 1e6 * time / Double(fixes.count),
            without: 1e6 * emptyTime / Double(fixes.count)
        )
    }

    /// Seconds that this process computed.
    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The resident memory of this process in megabytes.
    private static var memory: Double {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (Double(text.split(separator: " ").dropFirst().first ?? "0") ?? 0) * 4096 / 1e6
    }
}
