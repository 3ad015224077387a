import BackgrounderAPI

/// A GTFS feed in a zip archive, whose tables lie in the root or together in a folder. One thread at a time; blocks on the disk.
///
/// Tables are read in one pass and constant memory, however large they are. Only stops and platforms (`location_type` 0 or empty)
/// become places: vehicles do not call at stations, entrances and boarding areas.
final class GTFSFeed {
    private let archive: ZipArchive
    /// The folder of the tables, with its slash; empty for the root.
    private let folder: String

    /// Opens the archive `file`.
    init(_ file: ImportFile) throws(ImportFault) {
        archive = try ZipArchive(file)
        let candidates = archive.entries.keys.filter { $0 == "stops.txt" || $0.hasSuffix("/stops.txt") }
            .map { String($0.dropLast("stops.txt".count)) }
        guard !candidates.isEmpty else {
            throw ImportFault(.archive("no stops.txt in the archive; name a GTFS feed"))
        }
        guard candidates.contains("") || candidates.count == 1 else {
            throw ImportFault(.archive("several folders have a stops.txt; pack one feed"))
        }
        folder = candidates.contains("") ? "" : candidates[0]
    }

    /// Returns the stops and platforms as circles with the default radius and the tag `stop`. `stop_id` becomes the id, all other
    /// columns become properties of their names.
    func places(_ collector: PlaceCollector) throws(ImportFault) -> [PlaceDefinition] {
        var collector = collector
        let columns = ["stop_id", "stop_name", "stop_lat", "stop_lon"]
        try scan("stops.txt", required: columns) { (table) throws(ImportFault) in
            let stops = GTFSStopColumns(table)
            while try table.next() {
                guard try stops.isStop(table) else { continue }
                do throws(ImportFault) { try collector.add(try stops.place(table), number: table.line) } catch {
                    throw error.with(line: table.line, item: (try? stops.id(table)).map { "stop \(quoted($0))" })
                }
            }
        }
        guard !collector.places.isEmpty else { throw ImportFault(.unsuitable("no stops"), entry: "stops.txt") }
        return collector.places
    }

    /// Returns whether the feed has the table `name`.
    func has(_ name: String) -> Bool { archive.entries[folder + name] != nil }

    /// Reads the table `name` with `body`, which must read all records: the checksum is verified at the end.
    func scan(
        _ name: String,
        required: [String],
        _ body: (inout GTFSTable) throws(ImportFault) -> Void
    ) throws(ImportFault) {
        guard let entry = archive.entries[folder + name] else {
            throw ImportFault(.archive("no \(name) in the archive; export the feed again"))
        }
        do throws(ImportFault) {
            var table = try GTFSTable(try archive.open(entry), required: required)
            try body(&table)
        } catch {
            throw error.with(entry: name)
        }
    }
}

/// The columns of `stops.txt`.
struct GTFSStopColumns {
    private let id: Int?
    private let name: Int?
    private let latitude: Int?
    private let longitude: Int?
    private let type: Int?
    private let others: [(Int, String)]

    init(_ table: borrowing GTFSTable) {
        id = table.column("stop_id")
        name = table.column("stop_name")
        latitude = table.column("stop_lat")
        longitude = table.column("stop_lon")
        type = table.column("location_type")
        let known = ["", "stop_id", "stop_name", "stop_lat", "stop_lon", "location_type"]
        others = table.names.enumerated().filter { !known.contains($0.element) }.map { ($0.offset, $0.element) }
    }

    /// Whether the record is a stop or platform, not a station, an entrance, a node or a boarding area.
    func isStop(_ table: borrowing GTFSTable) throws(ImportFault) -> Bool {
        let bytes = table.bytes(type)
        if bytes.isEmpty || bytes.elementsEqual("0".utf8) { return true }
        guard bytes.count == 1, (0x31...0x34).contains(bytes[0]) else {
            throw table.invalid("location_type", String(decoding: bytes, as: UTF8.self), "from 0 to 4")
        }
        return false
    }

    func id(_ table: borrowing GTFSTable) throws(ImportFault) -> String { try table.required(id, "stop_id") }

    func name(_ table: borrowing GTFSTable) throws(ImportFault) -> String { try table.required(name, "stop_name") }

    func coordinate(_ table: borrowing GTFSTable) throws(ImportFault) -> Coordinate {
        try PlaceNumber.coordinate(latitude: table.bytes(latitude), longitude: table.bytes(longitude))
    }

    func place(_ table: borrowing GTFSTable) throws(ImportFault) -> PlaceDefinition {
        var place = PlaceDefinition(
            name: try name(table),
            sourceId: try id(table),
            tags: ["stop"],
            shape: .circle(center: try coordinate(table), radius: PlaceNumber.defaultRadius)
        )
        for (column, name) in others {
            if let text = try table.text(column) { place.properties[name] = text }
        }
        return place
    }
}
