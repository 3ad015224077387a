package import BackgrounderAPI

/// The rolling track: the newest points in the order of acceptance, in a ring of fixed capacity.
package struct Track: Sendable {
    package static let capacity = 100
    private var ring: [Location] = []
    /// The index of the oldest point once the ring is full.
    private var start = 0

    /// Creates a track of the newest of `locations`, which are ordered oldest first.
    package init(_ locations: some Collection<Location> = []) {
        ring.reserveCapacity(Self.capacity)
        for location in locations.suffix(Self.capacity) { append(location) }
    }

    package var count: Int { ring.count }
    package var newest: Location? { ring.isEmpty ? nil : ring[(start + ring.count - 1) % ring.count] }

    /// Adds the newest point; drops the oldest one if the track is full. O(1).
    package mutating func append(_ location: Location) {
        if ring.count < Self.capacity {
            ring.append(location)
        } else {
            ring[start] = location
            start = (start + 1) % Self.capacity
        }
    }

    /// Returns the newest `count` points, oldest first.
    package func last(_ count: Int) -> [Location] {
        Array((ring[start...] + ring[..<start]).suffix(max(0, count)))
    }
}
