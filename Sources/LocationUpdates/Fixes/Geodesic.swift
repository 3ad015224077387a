import CGPS

/// Distances on the WGS84 ellipsoid, computed by libgps.
enum Geodesic {
    /// The length of a degree of latitude at the equator, in metres; no degree of latitude is shorter.
    static let shortestDegree = 110_574.0

    /// Returns the distance between two places in metres.
    static func distance(from a: (latitude: Double, longitude: Double), to b: (latitude: Double, longitude: Double))
        -> Double
    {
        let distance = earth_distance(a.latitude, a.longitude, b.latitude, b.longitude)
        // Vincenty's iteration does not converge near antipodes; these are half a meridian apart.
        return distance.isFinite ? distance : 20_003_931
    }

    /// Returns an upper bound of the distance in metres, without trigonometry: no degree is longer than one of latitude at a
    /// pole.
    static func upperBound(
        from a: (latitude: Double, longitude: Double),
        to b: (latitude: Double, longitude: Double)
    ) -> Double {
        let longitude = abs(a.longitude - b.longitude)
        return 111_695 * (abs(a.latitude - b.latitude) + min(longitude, 360 - longitude))
    }
}
