import BackgrounderAPI
import SystemSupport

/// Reads the waypoints that OwnTracks exports: an object with `_type` `waypoints`, or a single `waypoint`.
///
/// A `rad` of 0 means a waypoint that OwnTracks does not monitor. It becomes a place with the default radius, like a waypoint
/// without `rad`. `rid` becomes the id.
struct OwnTracksPlaces {
    private var collector: PlaceCollector
    private var count = 0

    /// Reads the document of `json` and returns its places.
    static func read(_ json: inout JSONReader, _ collector: PlaceCollector) throws(ImportFault) -> [PlaceDefinition] {
        var places = OwnTracksPlaces(collector: collector)
        try places.readDocument(&json)
        return places.collector.places
    }

    private init(collector: PlaceCollector) { self.collector = collector }

    private mutating func readDocument(_ json: inout JSONReader) throws(ImportFault) {
        var type: String?
        var single = OwnTracksWaypoint()
        let line = json.line
        try json.object { (json, name) throws(ImportFault) in
            switch name {
            case "_type": type = try json.value(limit: 1024).text
            case "waypoints": try readWaypoints(&json)
            default: try single.read(name, &json)
            }
        }
        try json.finish()
        switch type {
        case "waypoints":
            guard count > 0 else { throw ImportFault(.unsuitable("no waypoints; export them in OwnTracks again")) }
        case "waypoint":
            do throws(ImportFault) { try collector.add(try single.place(), number: 1) } catch {
                throw error.with(line: line, item: "waypoint 1")
            }
        default:
            throw ImportFault(
                .unsuitable("the \"_type\" is \(quoted(type ?? "")), not \"waypoints\"; export the waypoints"),
                line: line
            )
        }
    }

    private mutating func readWaypoints(_ json: inout JSONReader) throws(ImportFault) {
        guard try json.isNext("[") else { throw json.damage("the waypoints are not an array") }
        try json.array { (json) throws(ImportFault) in
            count += 1
            guard try json.isNext("{") else {
                throw ImportFault(.unsuitable("not an object"), line: json.line, item: "waypoint \(count)")
            }
            let line = json.line
            do throws(ImportFault) {
                var waypoint = OwnTracksWaypoint()
                try json.object { (json, name) throws(ImportFault) in try waypoint.read(name, &json) }
                try collector.add(try waypoint.place(), number: count)
            } catch {
                throw error.with(line: line, item: "waypoint \(count)")
            }
        }
    }
}

/// The members of a waypoint, in any order.
private struct OwnTracksWaypoint {
    private var name: String?
    private var id: String?
    private var latitude = ""
    private var longitude = ""
    private var radius: String?
    private var isBeacon = false

    /// Reads the value of the member `member`.
    mutating func read(_ member: String, _ json: inout JSONReader) throws(ImportFault) {
        switch member {
        case "desc": name = try json.value(limit: ImportLimits.propertyValue).text
        case "rid": id = try json.value(limit: ImportLimits.propertyValue).text
        case "lat": latitude = try json.value(limit: 1024).text ?? ""
        case "lon": longitude = try json.value(limit: 1024).text ?? ""
        case "rad": radius = try json.value(limit: 1024).text
        case "uuid": isBeacon = try json.value(limit: 1024).text?.isEmpty == false
        default: try json.skip()
        }
    }

    /// Returns the place that the waypoint describes.
    func place() throws(ImportFault) -> PlaceDefinition {
        guard let name else { throw ImportFault(.missing("the name", remedy: "add a \"desc\"")) }
        guard !isBeacon else { throw ImportFault(.unsuitable("a beacon has no position; remove the waypoint")) }
        let center = try PlaceNumber.coordinate(latitude: latitude, longitude: longitude)
        var metres = PlaceNumber.defaultRadius
        if let radius, radius != "0" { metres = try PlaceNumber.metres(radius, "the radius") }
        return PlaceDefinition(name: name, sourceId: id, shape: .circle(center: center, radius: metres))
    }
}
