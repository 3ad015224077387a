/// A position on the Earth: degrees of WGS84. In JSON `[longitude, latitude]`, as in GeoJSON.
package struct Coordinate: Hashable, Sendable {
    package var latitude: Double
    package var longitude: Double

    /// Creates a coordinate.
    package init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

extension Coordinate {
    /// Parses `LATITUDE,LONGITUDE`; nil if the text is not a position on the Earth.
    package init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let latitude = parts[0], let longitude = parts[1], (-90...90).contains(latitude),
            (-180...180).contains(longitude)
        else { return nil }
        self.init(latitude: latitude, longitude: longitude)
    }
}

extension Coordinate: Codable {
    /// Decodes `[longitude, latitude]`; further numbers, such as an altitude, are ignored.
    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        longitude = try container.decode(Double.self)
        latitude = try container.decode(Double.self)
    }

    /// Encodes `[longitude, latitude]`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(longitude)
        try container.encode(latitude)
    }
}

/// The shape of a place.
package enum PlaceShape: Hashable, Sendable {
    /// Everything within `radius` metres of a position.
    case circle(center: Coordinate, radius: Double)
    /// The surface within an odd number of rings: areas, with holes. The last position of a ring is not its first one again.
    case polygon(rings: [[Coordinate]])
    /// Everything within half of `width` metres of a line.
    case line(points: [Coordinate], width: Double)
}

extension PlaceShape: Codable {
    private enum Kind: String, Codable { case circle, polygon, line }

    private enum CodingKeys: String, CodingKey {
        case type, latitude, longitude, radius, rings, points, width
    }

    /// Decodes a shape by its `type`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decode(Kind.self, forKey: .type) {
        case .circle:
            self = .circle(
                center: Coordinate(
                    latitude: try container.decode(Double.self, forKey: .latitude),
                    longitude: try container.decode(Double.self, forKey: .longitude)
                ),
                radius: try container.decode(Double.self, forKey: .radius)
            )
        case .polygon: self = .polygon(rings: try container.decode([[Coordinate]].self, forKey: .rings))
        case .line:
            self = .line(
                points: try container.decode([Coordinate].self, forKey: .points),
                width: try container.decode(Double.self, forKey: .width)
            )
        }
    }

    /// Encodes a shape with its `type`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .circle(let center, let radius):
            try container.encode(Kind.circle, forKey: .type)
            try container.encode(center.latitude, forKey: .latitude)
            try container.encode(center.longitude, forKey: .longitude)
            try container.encode(radius, forKey: .radius)
        case .polygon(let rings):
            try container.encode(Kind.polygon, forKey: .type)
            try container.encode(rings, forKey: .rings)
        case .line(let points, let width):
            try container.encode(Kind.line, forKey: .type)
            try container.encode(points, forKey: .points)
            try container.encode(width, forKey: .width)
        }
    }
}
