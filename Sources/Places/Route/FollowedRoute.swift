package import BackgrounderAPI

/// A route that is prepared to be followed: the shape with its distances, and each stop on it. Any thread may use it.
package final class FollowedRoute: Sendable {
    /// A visit of a stop.
    package struct Stop: Hashable, Sendable {
        /// The order of the visits in the file.
        package let sequence: Int
        package let name: String
        package let sourceId: String?
        package let coordinate: Coordinate
        /// Metres from the beginning of the shape; never less than that of the stop before.
        package let distance: Double
    }

    /// The name of the line.
    package let name: String?
    /// The text on the front of the vehicle.
    package let headsign: String?
    /// The id of the trip in its feed.
    package let tripId: String?
    /// In the order of the visits.
    package let stops: [Stop]
    /// Identifies the shape and the stops, also after a restart.
    package let fingerprint: UInt64
    let shape: RouteShape

    /// The length of the shape in metres.
    package var length: Double { shape.length }

    /// Checks and prepares a route.
    ///
    /// The stops lie where the file's distances along the shape say. Without them, they lie where they are nearest to
    /// the shape and in their order, so that a loop may visit a stop twice.
    package init(_ definition: RouteDefinition) throws(RouteError) {
        guard definition.stops.count >= 2 else { throw .tooFewStops(definition.stops.count) }
        guard definition.stops.count <= RouteLimits.stops else { throw .tooManyStops(definition.stops.count) }
        var along: [Double] = []
        let shape = try RouteShape(definition.shape, along: &along)
        let stated = try Self.stated(definition, along: along)
        let distances = try StopAssignment(definition.stops, on: shape).distances(stated: stated)
        name = definition.name
        headsign = definition.headsign
        tripId = definition.tripId
        stops = zip(definition.stops, distances).map {
            Stop(
                sequence: $0.sequence,
                name: $0.name,
                sourceId: $0.sourceId,
                coordinate: $0.coordinate,
                distance: $1
            )
        }
        fingerprint = Self.fingerprint(definition, distances)
        self.shape = shape
    }

    /// Returns the distances of the stops in metres that the file states; nil if it does not state all of them.
    private static func stated(_ definition: RouteDefinition, along: [Double]) throws(RouteError) -> [Double]? {
        guard let units = definition.shapeDistances else { return nil }
        for index in along.indices {
            guard index < units.count, units[index].isFinite, index == 0 || units[index] >= units[index - 1] else {
                throw .shapeDistances(position: index + 1)
            }
        }
        var stated: [Double] = []
        for stop in definition.stops {
            guard let distance = stop.shapeDistance, distance.isFinite else { return nil }
            var (low, high) = (0, along.count - 1)
            while low < high {
                let middle = (low + high) / 2
                if units[middle] < distance { low = middle + 1 } else { high = middle }
            }
            let before = max(0, low - 1)
            let width = units[low] - units[before]
            let share = width > 0 ? max(0, min(1, (distance - units[before]) / width)) : 1
            stated.append(along[before] + share * (along[low] - along[before]))
        }
        return stated
    }

    /// Returns a hash that is the same in each process (FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv).
    private static func fingerprint(_ definition: RouteDefinition, _ distances: [Double]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ value: UInt64) {
            for shift in stride(from: 0, to: 64, by: 8) {
                hash = (hash ^ (value >> UInt64(shift) & 0xFF)) &* 0x100_0000_01B3
            }
        }
        for text in [definition.tripId, definition.name] {
            for byte in (text ?? "").utf8 { add(UInt64(byte)) }
            add(UInt64.max)
        }
        for position in definition.shape {
            add(position.latitude.bitPattern)
            add(position.longitude.bitPattern)
        }
        for (stop, distance) in zip(definition.stops, distances) {
            add(UInt64(bitPattern: Int64(stop.sequence)))
            add(distance.bitPattern)
        }
        return hash
    }
}
