import BackgrounderAPI
import SystemSupport

/// Reads the features of GeoJSON (RFC 7946).
struct GeoJSONPlaces {
    private var collector: PlaceCollector
    private var count = 0

    /// Reads the document of `json` and returns its places.
    static func read(_ json: inout JSONReader, _ collector: PlaceCollector) throws(ImportFault) -> [PlaceDefinition] {
        var places = GeoJSONPlaces(collector: collector)
        try places.readDocument(&json)
        return places.collector.places
    }

    private init(collector: PlaceCollector) { self.collector = collector }

    private mutating func readDocument(_ json: inout JSONReader) throws(ImportFault) {
        var type: String?
        var hasFeatures = false
        var single = GeoJSONFeature()
        let line = json.line
        try json.object { (json, name) throws(ImportFault) in
            switch name {
            case "type": type = try json.value(limit: 1024).text
            case "features":
                guard !hasFeatures else { throw json.damage("the features appear twice") }
                hasFeatures = true
                try readFeatures(&json)
            default: try single.read(name, &json, &collector)
            }
        }
        try json.finish()
        switch type {
        case "FeatureCollection":
            guard hasFeatures else { throw ImportFault(.missing("\"features\"", remedy: "add an array of features")) }
            guard count > 0 else { throw ImportFault(.unsuitable("no features; add at least one")) }
        case "Feature":
            do throws(ImportFault) { try collector.add(try single.place(), number: 1) } catch {
                throw error.with(line: line)
            }
        case let type?:
            throw ImportFault(
                .unsuitable("\(quoted(type)) without a feature has no name; wrap it in a Feature with a \"name\""),
                line: line
            )
        case nil: throw ImportFault(.missing("\"type\"", remedy: "write a FeatureCollection"))
        }
    }

    private mutating func readFeatures(_ json: inout JSONReader) throws(ImportFault) {
        guard try json.isNext("[") else { throw json.damage("the features are not an array") }
        try json.array { (json) throws(ImportFault) in
            count += 1
            guard try json.isNext("{") else {
                throw ImportFault(.unsuitable("not an object"), line: json.line, item: "feature \(count)")
            }
            let line = json.line
            do throws(ImportFault) {
                var feature = GeoJSONFeature()
                try json.object { (json, name) throws(ImportFault) in try feature.read(name, &json, &collector) }
                guard feature.type == "Feature" else {
                    throw ImportFault(.unsuitable("the \"type\" is not \"Feature\""))
                }
                try collector.add(try feature.place(), number: count)
            } catch {
                throw error.with(line: line, item: "feature \(count)")
            }
        }
    }
}

/// The members of a feature, in any order.
private struct GeoJSONFeature {
    private(set) var type: String?
    private var geometry: String?
    private var coordinates: GeoJSONCoordinates?
    private var id: String?
    private var name: String?
    private var tags: [String] = []
    private var course: String?
    private var tolerance: String?
    private var properties: [String: String] = [:]

    /// Reads the value of the member `member`.
    mutating func read(
        _ member: String,
        _ json: inout JSONReader,
        _ collector: inout PlaceCollector
    ) throws(ImportFault) {
        switch member {
        case "type": type = try json.value(limit: 1024).text
        case "id":
            let text = try json.value(limit: ImportLimits.propertyValue).text
            id = id ?? text
        case "geometry": try readGeometry(&json, &collector)
        case "properties":
            guard try json.isNext("{") else {
                guard case .null = try json.value(limit: 1024) else {
                    throw ImportFault(.unsuitable("the properties are not an object"), line: json.line)
                }
                return
            }
            try json.object { (json, name) throws(ImportFault) in try readProperty(name, &json) }
        default: try json.skip()
        }
    }

    private mutating func readGeometry(_ json: inout JSONReader, _ collector: inout PlaceCollector) throws(ImportFault)
    {
        guard try json.isNext("{") else {
            guard case .null = try json.value(limit: 1024) else {
                throw ImportFault(.unsuitable("the geometry is not an object"), line: json.line)
            }
            return
        }
        try json.object { (json, name) throws(ImportFault) in
            switch name {
            case "type": geometry = try json.value(limit: 1024).text
            case "coordinates":
                guard try json.isNext("[") else {
                    throw ImportFault(.unsuitable("the coordinates are not an array"), line: json.line)
                }
                coordinates = try GeoJSONCoordinates(&json, &collector)
            default: try json.skip()
            }
        }
    }

    private mutating func readProperty(_ property: String, _ json: inout JSONReader) throws(ImportFault) {
        switch property {
        case "tags": tags = try json.tags()
        case "name": name = try json.value(limit: ImportLimits.propertyValue).text
        case "id":
            let text = try json.value(limit: ImportLimits.propertyValue).text
            id = text ?? id
        case "course": course = try json.value(limit: ImportLimits.propertyValue).text
        case "tolerance": tolerance = try json.value(limit: ImportLimits.propertyValue).text
        default:
            guard properties.count <= ImportLimits.properties + 2 else {
                throw ImportFault(
                    .tooMany("properties", limit: ImportLimits.properties, remedy: "remove some"),
                    line: json.line
                )
            }
            properties[property] = try json.value(limit: ImportLimits.propertyValue).text
        }
    }

    /// Returns the place that the feature describes.
    func place() throws(ImportFault) -> PlaceDefinition {
        guard let name else { throw ImportFault(.missing("the name", remedy: "add a property \"name\"")) }
        var rest = properties
        let shape = try shape(&rest)
        return PlaceDefinition(
            name: name,
            sourceId: id,
            tags: tags,
            properties: rest,
            shape: shape,
            course: try course.map { (text) throws(ImportFault) in try PlaceNumber.course(text) },
            tolerance: try tolerance.map { (text) throws(ImportFault) in try PlaceNumber.tolerance(text) }
        )
    }

    /// Returns the shape, and removes the properties that belong to it from `rest`.
    private func shape(_ rest: inout [String: String]) throws(ImportFault) -> PlaceShape {
        guard let geometry else {
            throw ImportFault(.missing("the geometry", remedy: "add a Point, Polygon or LineString"))
        }
        let supported = ["Point": 1, "LineString": 2, "Polygon": 3, "MultiPolygon": 4]
        guard let levels = supported[geometry] else {
            throw ImportFault(
                .unsuitable(
                    "the geometry \(quoted(geometry)) is not supported; use Point, Polygon, MultiPolygon or LineString"
                )
            )
        }
        guard let coordinates else { throw ImportFault(.missing("\"coordinates\"", remedy: "add the positions")) }
        guard coordinates.levels == levels else {
            throw ImportFault(.unsuitable("the coordinates are not nested as those of a \(geometry)"))
        }
        if let center = coordinates.point {
            let radius = try rest.removeValue(forKey: "radius").map { (text) throws(ImportFault) in
                try PlaceNumber.metres(text, "the radius")
            }
            return .circle(center: center, radius: radius ?? PlaceNumber.defaultRadius)
        }
        if let points = coordinates.line {
            guard points.count >= 2 else { throw ImportFault(.unsuitable("a line has one position; it needs 2")) }
            let width = try rest.removeValue(forKey: "width").map { (text) throws(ImportFault) in
                try PlaceNumber.metres(text, "the width")
            }
            return .line(points: points, width: width ?? PlaceNumber.defaultWidth)
        }
        let polygons = try coordinates.polygons()
        do throws(ShapeError) {
            try Shape.check(polygons: polygons)
        } catch {
            throw ImportFault(.shape(error.description))
        }
        return .polygon(rings: polygons.flatMap { $0 })
    }
}
