import BackgrounderAPI

/// Finds where on a shape the stops of a route are.
///
/// A shape may pass a stop several times: in a loop, or out and back. Among the places in the order of the stops, those
/// with the least sum of squared distances win.
struct StopAssignment {
    private struct Candidate {
        var along: Double
        var cost: Double
        var right: Double
    }

    private let stops: [RouteDefinition.Stop]
    private var candidates: [[Candidate]] = []

    /// Square metres. Tuned: a stop on the other side of the street decides only between passages of one street.
    private static let wrongSide = 25.0
    /// Two stops are hardly ever this close in metres; the stop of a loop comes again at its end.
    private static let shortestWay = 10.0
    private static let tooClose = 2_500.0
    /// How far the distances of a file may err, in metres.
    private static let tolerance = 100.0

    /// Finds the places near each stop. `comparisons` bounds the work.
    init(_ stops: [RouteDefinition.Stop], on shape: RouteShape, comparisons: Int = RouteLimits.comparisons)
        throws(RouteError)
    {
        self.stops = stops
        var comparisons = comparisons
        for (index, stop) in stops.enumerated() {
            guard let position = Position(stop.coordinate) else {
                throw .stop(stop.coordinate, stop: index + 1, name: stop.name)
            }
            var found = shape.minima(near: position, within: RouteLimits.stopDistance, comparisons: &comparisons)
            guard comparisons >= 0 else { throw .tooDense }
            guard !found.isEmpty else {
                let distance = shape.distance(from: position)
                throw .farStop(stop: index + 1, name: stop.name, metres: distance)
            }
            if found.count > RouteLimits.candidates {
                found.sort { $0.distance < $1.distance }
                found.removeLast(found.count - RouteLimits.candidates)
                found.sort { $0.along < $1.along }
            }
            candidates.append(
                found.map { Candidate(along: $0.along, cost: $0.distance * $0.distance, right: $0.right) }
            )
        }
    }

    /// Returns the distance of each stop from the beginning of the shape.
    ///
    /// - Parameter stated: the distances that the file states for the stops, in metres; nil if it does not state all.
    func distances(stated: [Double]?) throws(RouteError) -> [Double] {
        if let stated {
            let near = zip(candidates, stated).map { options, distance in
                options.filter { abs($0.along - distance) <= Self.tolerance }
            }
            // Distances that do not fit the shape are not used.
            if !near.contains(where: \.isEmpty), let found = try? best(of: near) { return found }
        }
        return try best(of: candidates)
    }

    /// Returns the places that fit best with all stops on one side of the street, the right or the left one.
    private func best(of candidates: [[Candidate]]) throws(RouteError) -> [Double] {
        let right = try cheapest(of: candidates, side: 1)
        let left = try cheapest(of: candidates, side: -1)
        return left.cost < right.cost ? left.distances : right.distances
    }

    private func cheapest(of candidates: [[Candidate]], side: Double) throws(RouteError) -> (
        cost: Double, distances: [Double]
    ) {
        var before = [(along: -Double.infinity, cost: 0.0)]
        var origins: [[Int]] = []
        for (stop, options) in candidates.enumerated() {
            var costs: [(along: Double, cost: Double)] = []
            var origin: [Int] = []
            // The cheapest of those before that are far enough behind, and of all that are behind.
            var (far, close) = (-1, -1)
            var (farEnd, closeEnd) = (0, 0)
            for option in options {
                while farEnd < before.count, before[farEnd].along <= option.along - Self.shortestWay {
                    if far < 0 || before[farEnd].cost < before[far].cost { far = farEnd }
                    farEnd += 1
                }
                while closeEnd < before.count, before[closeEnd].along <= option.along {
                    if close < 0 || before[closeEnd].cost < before[close].cost { close = closeEnd }
                    closeEnd += 1
                }
                var cost = Double.infinity
                var from = -1
                if far >= 0 { (cost, from) = (before[far].cost, far) }
                if close >= 0, before[close].cost + Self.tooClose < cost {
                    (cost, from) = (before[close].cost + Self.tooClose, close)
                }
                let isWrongSide = option.right * side < -1
                costs.append((option.along, cost + option.cost + (isWrongSide ? Self.wrongSide : 0)))
                origin.append(from)
            }
            guard origin.contains(where: { $0 >= 0 }) else { throw .order(stop: stop + 1, name: stops[stop].name) }
            before = costs
            origins.append(origin)
        }
        var last = 0
        for index in before.indices where before[index].cost < before[last].cost { last = index }
        let cost = before[last].cost
        var distances: [Double] = []
        for stop in candidates.indices.reversed() {
            distances.append(candidates[stop][last].along)
            last = origins[stop][last]
        }
        return (cost, distances.reversed())
    }
}
