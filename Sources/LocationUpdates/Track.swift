package import BackgrounderAPI

/// The newest points in the order in which they were accepted: a ring of a fixed capacity.
package struct Track: Sendable {
    package static let capacity = 100
    private var ring: [Location] = []
    /// Where the oldest lies once the ring is full.
    private var start = 0

    /// A track of the newest of `locations`, oldest first.
    package init(_ locations: some Collection<Location> = []) {
        ring.reserveCapacity(Self.capacity)
        for location in locations.suffix(Self.capacity) { append(location) }
    }

    package var count: Int { ring.count }
    package var newest: Location? { ring.isEmpty ? nil : ring[(start + ring.count - 1) % ring.count] }

    package mutating func append(_ location: Location) {
        if ring.count < Self.capacity {
            ring.append(location)
        } else {
            ring[start] = location
            start = (start + 1) % Self.capacity
        }
    }

    /// The newest `count`, oldest first.
    package func last(_ count: Int) -> [Location] {
        Array((ring[start...] + ring[..<start]).suffix(max(0, count)))
    }
}
