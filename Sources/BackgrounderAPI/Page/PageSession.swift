package import FoundationEssentials

/// The right of one browser tab to use the service through the page.
package struct PageSession: Codable, Hashable, Sendable {
    package var id: Int
    /// `read` or `control`.
    package var scope: AccessLevel
    package var expires: Date

    /// Creates a session.
    package init(id: Int, scope: AccessLevel, expires: Date) {
        self.id = id
        self.scope = scope
        self.expires = expires
    }
}

/// The body of `POST /v1/web/codes`.
package struct PageCodeRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// `read` or `control` (default `control`, or `read` if the caller may only read).
    package var scope: AccessLevel?
    /// How long the session lasts, in seconds (default 8 hours).
    package var duration: Double?
    /// The port on loopback (default: the same as before, at first a free one).
    package var port: Int?

    /// Creates a request.
    package init(scope: AccessLevel? = nil, duration: Double? = nil, port: Int? = nil) {
        self.scope = scope
        self.duration = duration
        self.port = port
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case scope, duration, port
    }
}

/// A code that a page exchanges once for a session.
package struct PageCode: Codable, Hashable, Sendable {
    /// 128 random bits.
    package var code: String
    /// When the code loses its validity.
    package var expires: Date
    /// The port on loopback.
    package var port: Int
    /// The links that open the page, first those for the network, last the one on loopback.
    package var links: [String]

    /// Creates a code.
    package init(code: String, expires: Date, port: Int, links: [String]) {
        self.code = code
        self.expires = expires
        self.port = port
        self.links = links
    }
}

/// The body of `POST /v1/web/session`.
package struct PageCodeExchange: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var code: String

    /// Creates an exchange.
    package init(code: String) {
        self.code = code
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case code
    }
}

/// A token, which a page sends as `Authorization: Bearer TOKEN`.
package struct PageToken: Codable, Hashable, Sendable {
    /// 256 random bits. The service stores only their SHA-256.
    package var token: String
    package var scope: AccessLevel
    package var expires: Date

    /// Creates a token.
    package init(token: String, scope: AccessLevel, expires: Date) {
        self.token = token
        self.scope = scope
        self.expires = expires
    }
}

/// What the page needs to know about its session and its maps.
package struct PageDescription: Codable, Hashable, Sendable {
    package var scope: AccessLevel
    package var expires: Date
    package var version: String
    /// The map of `web.map`, whose images are at `/v1/map/{z}/{x}/{y}`.
    package var map: MapArchiveDescription?
    /// The address of online tiles, `web.tiles`.
    package var tiles: String?

    /// Creates a description.
    package init(
        scope: AccessLevel,
        expires: Date,
        version: String,
        map: MapArchiveDescription? = nil,
        tiles: String? = nil
    ) {
        self.scope = scope
        self.expires = expires
        self.version = version
        self.map = map
        self.tiles = tiles
    }
}

/// The extent of a map archive.
package struct MapArchiveDescription: Codable, Hashable, Sendable {
    /// The latitude in degrees at which a map in the Mercator projection ends.
    package static let mostLatitude = 85.0511287798066

    package var minZoom: Int
    package var maxZoom: Int
    /// West, south, east and north, in degrees.
    package var bounds: [Double]
    /// The credit that the map's owner wants to be shown.
    package var attribution: String?

    /// Creates a description.
    package init(minZoom: Int, maxZoom: Int, bounds: [Double], attribution: String? = nil) {
        self.minZoom = minZoom
        self.maxZoom = maxZoom
        self.bounds = bounds
        self.attribution = attribution
    }
}
