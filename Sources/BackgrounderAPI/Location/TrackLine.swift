/// The line of a track on a map.
package struct TrackLine: Codable, Hashable, Sendable {
    /// Lists of positions, each a latitude and a longitude in degrees. A line that crosses the antimeridian is split there.
    package var segments: [[[Double]]]

    /// Creates a line.
    package init(segments: [[[Double]]]) {
        self.segments = segments
    }
}
