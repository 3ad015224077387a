extension Routes {
    /// The most places in a reply of ``places``.
    package static let mostPlaces = 1000

    /// A page of places by id: `after`, `count`, and the conditions `name`, `tag`, `source`, `near` and `within`, `inside=1`.
    package static let places = Route<Empty, [Place]>(.get, "/v1/places")
    package static let addPlace = Route<PlaceRequest, Place>(.post, "/v1/places", status: 201)
    package static let place = Route<Empty, Place>(.get, "/v1/places/{id}")
    package static let removePlace = Route<Empty, Empty>(.delete, "/v1/places/{id}", status: 204)
    package static let changePlace = Route<PlacePatch, Place>(.patch, "/v1/places/{id}")
    /// Makes the rules act as if the event happened now. They do not remember it.
    package static let simulatePlace = Route<PlaceSimulation, PlaceEvent>(.post, "/v1/places/{id}/simulate")
    /// The rules of the configuration file.
    package static let placeRules = Route<Empty, [PlaceRuleDescription]>(.get, "/v1/place-rules")
    package static let placeRoute = Route<Empty, PlaceRouteProgress>(.get, "/v1/place-route")
    /// Follows the route of a file in place of the present one.
    package static let followRoute = Route<PlaceRouteRequest, PlaceRouteProgress>(
        .put,
        "/v1/place-route",
        access: .execute
    )
    package static let clearRoute = Route<Empty, Empty>(.delete, "/v1/place-route", status: 204)
    package static let importPlaces = Route<PlaceImportRequest, PlaceImport>(
        .post,
        "/v1/places/import",
        access: .execute
    )
    /// The newest events, oldest first: `since`, `until`, `place` and `last`.
    package static let placeEvents = Route<Empty, [PlaceEvent]>(.get, "/v1/place-events")
}

/// The body of `POST /v1/places`: a place that is added by itself.
package struct PlaceRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var name: String
    package var shape: PlaceShape
    package var tags: [String]?
    package var properties: [String: String]?
    package var course: Double?
    package var tolerance: Double?
    /// Whether a place of this name may be replaced.
    package var replace: Bool?

    /// Creates a place request.
    package init(
        name: String,
        shape: PlaceShape,
        tags: [String]? = nil,
        properties: [String: String]? = nil,
        course: Double? = nil,
        tolerance: Double? = nil,
        replace: Bool? = nil
    ) {
        self.name = name
        self.shape = shape
        self.tags = tags
        self.properties = properties
        self.course = course
        self.tolerance = tolerance
        self.replace = replace
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, shape, tags, properties, course, tolerance, replace
    }

    /// The place that it describes.
    package var definition: PlaceDefinition {
        PlaceDefinition(
            name: name,
            tags: tags ?? [],
            properties: properties ?? [:],
            shape: shape,
            course: course,
            tolerance: tolerance
        )
    }
}

/// The body of `PATCH /v1/places/{id}`; absent fields stay unchanged.
package struct PlacePatch: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var name: String?
    package var shape: PlaceShape?
    package var tags: [String]?
    package var properties: [String: String]?
    package var course: Double?
    package var tolerance: Double?

    /// Creates a patch.
    package init(
        name: String? = nil,
        shape: PlaceShape? = nil,
        tags: [String]? = nil,
        properties: [String: String]? = nil,
        course: Double? = nil,
        tolerance: Double? = nil
    ) {
        self.name = name
        self.shape = shape
        self.tags = tags
        self.properties = properties
        self.course = course
        self.tolerance = tolerance
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, shape, tags, properties, course, tolerance
    }

    /// Returns the place with the changes.
    package func applied(to place: PlaceDefinition) -> PlaceDefinition {
        var place = place
        place.name = name ?? place.name
        place.shape = shape ?? place.shape
        place.tags = tags ?? place.tags
        place.properties = properties ?? place.properties
        place.course = course ?? place.course
        place.tolerance = tolerance ?? place.tolerance
        return place
    }
}

/// The body of `POST /v1/places/{id}/simulate`.
package struct PlaceSimulation: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var event: PlaceEventKind

    /// Creates a simulation.
    package init(event: PlaceEventKind) { self.event = event }

    private enum CodingKeys: String, CodingKey, CaseIterable { case event }
}

/// The body of `PUT /v1/place-route`: a trip of a GTFS feed, or a GPX file.
package struct PlaceRouteRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// The absolute path of a GTFS archive.
    package var gtfs: String?
    /// The id of a trip in it.
    package var trip: String?
    /// The absolute path of a GPX file.
    package var gpx: String?

    /// Creates a request.
    package init(gtfs: String? = nil, trip: String? = nil, gpx: String? = nil) {
        self.gtfs = gtfs
        self.trip = trip
        self.gpx = gpx
    }

    private enum CodingKeys: String, CodingKey, CaseIterable { case gtfs, trip, gpx }

    /// The path of the file, and the trip of a GTFS archive.
    package var origin: (path: String, trip: String?) {
        get throws(WireError) {
            switch (gtfs, trip, gpx) {
            case (let path?, let trip?, nil): return (path, trip)
            case (nil, nil, let path?): return (path, nil)
            default: throw WireError(.invalid, "the route is not valid", hint: "use gtfs and trip, or gpx")
            }
        }
    }
}

/// The body of `POST /v1/places/import`: a file with places.
package struct PlaceImportRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// Absolute.
    package var path: String
    /// Absent means the name of the file.
    package var source: String?
    /// Whether to remove the places of the source that the file does not have.
    package var replace: Bool?

    /// Creates an import request.
    package init(path: String, source: String? = nil, replace: Bool? = nil) {
        self.path = path
        self.source = source
        self.replace = replace
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case path, source, replace
    }
}
