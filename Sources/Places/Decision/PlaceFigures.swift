/// The figures of a fix at a place, on which decisions are based.
package struct PlaceFigures: Hashable, Sendable {
    /// Signed metres to the boundary, positive inside.
    package var distance: Double
    /// The standard deviation of `distance` in metres.
    package var sigma: Double
    /// The probability that the machine is inside.
    package var probability: Double
}

extension PlaceFix {
    /// Returns the figures at a place, or nil if it is more than `limit` metres away.
    package func figures(of shape: Shape, within limit: Double) -> PlaceFigures? {
        guard let position = Position(coordinate), shape.distanceBound(from: position) <= limit else { return nil }
        let distance = shape.signedDistance(from: TangentPosition(position))
        guard distance >= -limit else { return nil }
        return PlaceFigures(
            distance: distance,
            sigma: sigma,
            probability: PlaceDecision.probability(distance: distance, sigma: sigma)
        )
    }
}
