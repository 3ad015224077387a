import CGPS

/// Distances on the WGS84 ellipsoid, by libgps.
enum Geodesic {
    /// Metres of a degree of latitude at the equator: none is shorter.
    static let shortestDegree = 110_574.0

    /// Metres between two places.
    static func distance(from a: (latitude: Double, longitude: Double), to b: (latitude: Double, longitude: Double))
        -> Double
    {
        let distance = earth_distance(a.latitude, a.longitude, b.latitude, b.longitude)
        // Vincenty's iteration does not converge near the antipodes, which are half a meridian away.
        return distance.isFinite ? distance : 20_003_931
    }

    /// Metres that the distance cannot exceed, without trigonometry: no degree is longer than one of latitude at a pole.
    static func upperBound(
        from a: (latitude: Double, longitude: Double),
        to b: (latitude: Double, longitude: Double)
    ) -> Double {
        let longitude = abs(a.longitude - b.longitude)
        return 111_695 * (abs(a.latitude - b.latitude) + min(longitude, 360 - longitude))
    }
}
