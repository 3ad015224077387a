package import BackgrounderAPI
import FoundationEssentials
import Glibc
package import Places

/// Simulated visits, with the decisions of the monitor and of the rule that peers use: a fix is inside if its distance from the
/// centre is less than the radius.
package enum Trials {
    /// Events of a place, in seconds after the start.
    package struct Events: Sendable {
        package var enters: [Double] = []
        package var leaves: [Double] = []
        package var passes: [Double] = []
        package var initial = 0

        package init() {}

        /// How often the machine left and came back, or came and left.
        package var pairs: Int { min(enters.count + initial, leaves.count) }
    }

    /// The events of both rules.
    package struct Comparison: Sendable {
        package var monitor = Events()
        package var peers = Events()
    }

    /// Creates a monitor that knows `places`, with the ids 0, 1, ….
    package static func monitor(_ places: [PlaceDefinition], watches: [PlaceWatch] = []) -> PlaceMonitor {
        var monitor = PlaceMonitor(watches: watches)
        let all = places.enumerated().map { try! MonitoredPlace(id: Int64($0.offset), $0.element, watches: watches) }
        let origin = Position(GroundPoint(0, 0).coordinate)!
        monitor.complete(PlaceSearch(around: origin, radius: 1_000_000), found: [])
        monitor.load(all, for: [])
        return monitor
    }

    /// Returns the circle around the origin of the ground.
    package static func circle(_ radius: Double, at center: GroundPoint = GroundPoint(0, 0)) -> PlaceDefinition {
        PlaceDefinition(name: "P", shape: .circle(center: center.coordinate, radius: radius))
    }

    /// Follows a way past one circle around the origin.
    package static func follow(
        _ drive: Drive,
        radius: Double,
        _ receiver: inout Receiver,
        every interval: Double = 1,
        from first: Double = 0
    ) -> Comparison {
        var monitor = monitor([circle(radius)])
        let center = Position(GroundPoint(0, 0).coordinate)!
        var result = Comparison()
        var isInside: Bool?
        drive.run(&receiver, every: interval, from: first) { time, _, fix in
            for decision in monitor.receive(fix) {
                switch decision.event {
                case .enter where decision.initial: result.monitor.initial += 1
                case .enter: result.monitor.enters.append(time)
                case .leave: result.monitor.leaves.append(time)
                case .pass: result.monitor.passes.append(time)
                case .dwell, .approach, .next: break
                }
            }
            let wasInside = isInside
            let now = center.distance(to: Position(fix.coordinate)!) < radius
            isInside = now
            switch (wasInside, now) {
            case (nil, true): result.peers.initial += 1
            case (false?, true): result.peers.enters.append(time)
            case (true?, false): result.peers.leaves.append(time)
            default: break
            }
        }
        return result
    }

    /// Stands `outside` metres from the boundary of a circle for some hours, and returns the pairs of events of both rules.
    package static func stand(outside: Double, radius: Double, hours: Double, reportsSpeed: Bool = true, seed: UInt64)
        -> (monitor: Int, peers: Int)
    {
        var receiver = Receiver(reportsSpeed: reportsSpeed, seed: seed)
        var drive = Drive(from: GroundPoint(radius + outside, 0))
        drive.stop(hours * 3600)
        let result = follow(drive, radius: radius, &receiver)
        return (result.monitor.pairs, result.peers.pairs)
    }
}

extension Trials {
    /// Drives through a circle and returns the seconds from each true crossing to its event, of both rules; negative if early.
    package static func latency(
        radius: Double,
        speed: Double,
        offset: Double,
        every interval: Double = 1,
        reportsSpeed: Bool = true,
        random: inout Randomness
    ) -> (comparison: Comparison, enter: Double, leave: Double) {
        var receiver = Receiver(reportsSpeed: reportsSpeed, seed: random.next())
        let half = (radius * radius - offset * offset).squareRoot()
        let lead = max(150, 20 * speed)
        var drive = Drive(from: GroundPoint(-half - lead, offset))
        drive.move(to: GroundPoint(half + lead, offset), speed: speed)
        let comparison = follow(drive, radius: radius, &receiver, every: interval, from: random.uniform(0...interval))
        return (comparison, lead / speed, (lead + 2 * half) / speed)
    }

    /// Walks to the centre, stays there and walks away. Returns whether exactly one visit was found, by both rules.
    package static func visit(
        radius: Double,
        speed: Double,
        stay: Double,
        reportsSpeed: Bool = true,
        random: inout Randomness
    )
        -> Comparison
    {
        var receiver = Receiver(reportsSpeed: reportsSpeed, seed: random.next())
        let angle = random.uniform(0...(2 * .pi))
        var drive = Drive(from: GroundPoint(-radius - 100, 0))
        drive.stop(60)
        drive.move(to: GroundPoint(random.uniform(-3...3), random.uniform(-3...3)), speed: speed)
        drive.stop(stay)
        drive.move(to: GroundPoint((radius + 100) * cos(angle), (radius + 100) * sin(angle)), speed: speed)
        drive.stop(60)
        return follow(drive, radius: radius, &receiver)
    }
}
