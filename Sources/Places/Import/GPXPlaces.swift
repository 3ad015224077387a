import BackgrounderAPI

/// Reads the waypoints of a GPX file as circles with the default radius. `sym`, `type`, `desc` and `cmt` become properties.
enum GPXPlaces {
    /// Reads all of `source` and returns its places.
    static func read(_ source: any ByteSource, _ collector: PlaceCollector) throws(ImportFault) -> [PlaceDefinition] {
        var collector = collector
        try GPXScanner.scan(source) { (item) throws(ImportFault) in
            guard item.kind == .waypoint else { return }
            do throws(ImportFault) {
                guard let name = item.texts["name"] else {
                    throw ImportFault(.missing("the name", remedy: "add a name"))
                }
                var properties = item.texts
                properties["name"] = nil
                let shape = PlaceShape.circle(center: try item.coordinate(), radius: PlaceNumber.defaultRadius)
                try collector.add(PlaceDefinition(name: name, properties: properties, shape: shape), number: item.line)
            } catch {
                throw error.with(line: item.line)
            }
        }
        guard !collector.places.isEmpty else { throw ImportFault(.unsuitable("no waypoints (wpt); add at least one")) }
        return collector.places
    }
}
