import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// A table of places.
enum PlaceTable {
    static func render(
        _ places: [Place],
        empty: String = "No places; add one with `backgrounder place add`.",
        time: TimeStyle = .output,
        limit: Int? = StandardOutput.widthLimit
    ) -> String {
        guard !places.isEmpty else { return empty }
        var table = Table([
            ("ID", .right), ("NAME", .left), ("SHAPE", .left), ("TAGS", .left), ("SOURCE", .left), ("INSIDE", .time),
        ])
        for place in places {
            table.add([
                String(place.id), place.definition.name, place.definition.shape.summary,
                place.definition.tags.joined(separator: ","), place.definition.source ?? "",
                place.since.map { "since \(time.text($0))" } ?? "",
            ])
        }
        return table.render(limit: limit)
    }
}

/// A table of events at places.
enum PlaceEventTable {
    static func render(
        _ events: [PlaceEvent],
        time: TimeStyle = .output,
        limit: Int? = StandardOutput.widthLimit
    ) -> String {
        guard !events.isEmpty else { return "No events at places in this range." }
        var table = Table([
            ("TIME", .time), ("EVENT", .left), ("PLACE", .left), ("DISTANCE", .left), ("P", .right),
            ("RULES", .left),
        ])
        for event in events {
            table.add([
                time.text(event.timestamp), event.event.rawValue + event.remark, event.place, event.position,
                event.probability.map { $0.decimals(2) } ?? "",
                event.actions.map(\.line).joined(separator: ", "),
            ])
        }
        return table.render(limit: limit)
    }
}

extension PlaceEvent {
    /// Such as `enter Harbour, 12.4 m inside`.
    var line: String {
        let rules = actions.isEmpty ? "" : "; " + actions.map(\.line).joined(separator: ", ")
        return "\(event.rawValue)\(remark) \(place), \(position)\(rules)".withoutControlCharacters
    }

    fileprivate var remark: String {
        initial == true ? " (at the start)" : simulated == true ? " (simulated)" : ""
    }

    fileprivate var position: String { "\(abs(distance).metres) \(distance >= 0 ? "inside" : "outside")" }
}

extension PlaceAction {
    /// Such as `next-stop say fired`.
    var line: String { "\(rule) \(kind.rawValue) \(outcome.rawValue)" }
}

extension PlaceShape {
    /// Such as `circle, 50 m` or `area, 12 positions`.
    var summary: String {
        switch self {
        case .circle(_, let radius): "circle, \(radius.metres)"
        case .polygon(let rings): "area, \(rings.reduce(0) { $0 + $1.count }) positions"
        case .line(let points, let width): "line, \(points.count) positions, \(width.metres) wide"
        }
    }
}

extension Place {
    /// Lines for people.
    var details: [String] {
        var rows = [("name", definition.name), ("id", String(id)), ("shape", definition.shape.summary)]
        if case .circle(let center, _) = definition.shape {
            rows.append(("centre", "\(center.latitude.decimals(6)), \(center.longitude.decimals(6))"))
        }
        if let source = definition.source {
            rows.append(("source", source + (definition.sourceId.map { ", id \($0)" } ?? "")))
        }
        if !definition.tags.isEmpty { rows.append(("tags", definition.tags.joined(separator: ", "))) }
        if let course = definition.course {
            rows.append(("course", "\(course.decimals(0))°, ±\((definition.tolerance ?? 60).decimals(0))°"))
        }
        for (key, value) in definition.properties.sorted(by: { $0.key < $1.key }) { rows.append((key, value)) }
        rows.append(("inside", since.map { "since \($0.shown)" } ?? "no"))
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { name, text in
            (name + String(repeating: " ", count: width - name.count + 2) + text).withoutControlCharacters
        }
    }
}

/// Places as a GeoJSON FeatureCollection, which `place import` reads.
struct PlaceCollection: Encodable {
    private let type = "FeatureCollection"
    private let features: [Feature]

    init(_ places: [Place]) { features = places.map { Feature(place: $0.definition) } }

    private struct Feature: Encodable {
        let place: PlaceDefinition

        private struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode("Feature", forKey: Key(stringValue: "type"))
            var geometry = container.nestedContainer(keyedBy: Key.self, forKey: Key(stringValue: "geometry"))
            var properties = container.nestedContainer(keyedBy: Key.self, forKey: Key(stringValue: "properties"))
            for (key, value) in place.properties { try properties.encode(value, forKey: Key(stringValue: key)) }
            try properties.encode(place.name, forKey: Key(stringValue: "name"))
            try properties.encodeIfPresent(place.sourceId, forKey: Key(stringValue: "id"))
            if !place.tags.isEmpty { try properties.encode(place.tags, forKey: Key(stringValue: "tags")) }
            try properties.encodeIfPresent(place.course, forKey: Key(stringValue: "course"))
            try properties.encodeIfPresent(place.tolerance, forKey: Key(stringValue: "tolerance"))
            let (type, coordinates) = (Key(stringValue: "type"), Key(stringValue: "coordinates"))
            switch place.shape {
            case .circle(let center, let radius):
                try geometry.encode("Point", forKey: type)
                try geometry.encode(center, forKey: coordinates)
                try properties.encode(radius, forKey: Key(stringValue: "radius"))
            case .polygon(let rings):
                let closed = rings.map { $0 + $0.prefix(1) }
                // The rings do not say which of them are holes; a reader counts how often a position is surrounded.
                try geometry.encode("Polygon", forKey: type)
                try geometry.encode(closed, forKey: coordinates)
            case .line(let points, let width):
                try geometry.encode("LineString", forKey: type)
                try geometry.encode(points, forKey: coordinates)
                try properties.encode(width, forKey: Key(stringValue: "width"))
            }
        }
    }
}
