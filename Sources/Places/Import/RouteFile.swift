/// Reads a route from a GTFS archive.
///
///     let route = try RouteFile.gtfs("feed.zip", trip: "1234")
package enum RouteFile {
    /// Reads the trip with the id `trip` of the GTFS archive at `path`: its stops in order and its shape.
    ///
    /// Blocks on the disk; reads `stop_times.txt` and `shapes.txt` once, in constant memory.
    package static func gtfs(_ path: String, trip: String) throws(PlaceFileFault) -> RouteDefinition {
        do throws(ImportFault) { return try GTFSFeed(try ImportFile(path: path)).route(trip: trip) } catch {
            throw error.at(path)
        }
    }
}
