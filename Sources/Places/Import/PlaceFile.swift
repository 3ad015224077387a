package import BackgrounderAPI
import Glibc

/// Reads the places of a file: GeoJSON, GPX waypoints, CSV, OwnTracks waypoints, or a GTFS archive.
///
/// The content decides the format, not the extension.
///
///     let places = try PlaceFile.read("stops.geojson", source: "stops")
package enum PlaceFile {
    /// Reads all places of the file at `path`, in its order, or none.
    ///
    /// Blocks on the disk, and throws a fault of the kind `cancelled` soon after the current task is cancelled. Memory is used for
    /// the places, not for the file.
    ///
    /// - Parameters:
    ///   - source: the ``PlaceDefinition/source`` of the places.
    ///   - refusal: returns why a shape is refused, in one line with what to do; `nil` if it is good.
    package static func read(
        _ path: String,
        source: String? = nil,
        refusal: @escaping (PlaceShape) -> String? = { _ in nil }
    ) throws(PlaceFileFault) -> [PlaceDefinition] {
        do throws(ImportFault) {
            let file = try ImportFile(path: path)
            let format = try PlaceFileFormat(file)
            func collector(_ noun: String) -> PlaceCollector {
                PlaceCollector(source: source, noun: noun, refusal: refusal)
            }
            switch format {
            case .geoJSON:
                var json = try JSONReader(file)
                return try GeoJSONPlaces.read(&json, collector("feature"))
            case .ownTracks:
                var json = try JSONReader(file)
                return try OwnTracksPlaces.read(&json, collector("waypoint"))
            case .gpx: return try GPXPlaces.read(file, collector("line"))
            case .csv: return try CSVPlaces.read(file, collector("line"))
            case .gtfs: return try GTFSFeed(file).places(collector("line"))
            }
        } catch {
            throw error.at(path)
        }
    }
}

/// The formats of places.
enum PlaceFileFormat {
    case geoJSON, gpx, csv, ownTracks, gtfs

    /// Recognises the format of `file` by its content, and leaves the file at its beginning.
    init(_ file: ImportFile) throws(ImportFault) {
        let beginning = try file.beginning(4096)
        if beginning.starts(with: [0x50, 0x4B]) {
            try file.check(limit: ImportLimits.archive)
            self = .gtfs
            return
        }
        if beginning.starts(with: [0x1F, 0x8B]) { throw ImportFault(.compressed("gzip")) }
        if beginning.starts(with: [0x42, 0x5A, 0x68]) { throw ImportFault(.compressed("bzip2")) }
        if beginning.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A]) { throw ImportFault(.compressed("xz")) }
        try file.check(limit: ImportLimits.textFile)
        self = try Self.text(file, beginning)
    }

    private static func text(_ file: ImportFile, _ beginning: [UInt8]) throws(ImportFault) -> PlaceFileFormat {
        // XML may be UTF-16, which expat reads.
        let isUTF16 = beginning.starts(with: [0xFF, 0xFE]) || beginning.starts(with: [0xFE, 0xFF])
        let text = beginning.drop { $0 <= 0x20 || $0 == 0xEF || $0 == 0xBB || $0 == 0xBF || $0 >= 0xFE }
        switch text.first {
        case UInt8(ascii: "<"): return .gpx
        case _ where isUTF16: throw ImportFault(.notUTF8)
        case UInt8(ascii: "{"):
            var json = try JSONReader(file)
            let name = try json.firstName(of: ["_type", "type"])
            file.rewind()
            return name == "_type" ? .ownTracks : .geoJSON
        case UInt8(ascii: "["):
            throw ImportFault(.unsuitable("a JSON array; write a FeatureCollection or OwnTracks waypoints"))
        default:
            // A header of CSV is text with at least two commas.
            let line = text.prefix { $0 != 0x0A }
            guard line.allSatisfy({ $0 >= 0x20 || $0 == 0x09 || $0 == 0x0D }),
                line.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") || $0 == 0x09 })
            else { throw ImportFault(.unknownFormat) }
            return .csv
        }
    }
}
