/// Reads a route from a GTFS archive or a GPX file.
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

    /// Reads the track or route of the GPX file at `path`.
    ///
    /// The shape is the track, or without one the points of the route. The stops are the named points of the route, or without one
    /// the waypoints in their order. Blocks on the disk.
    package static func gpx(_ path: String) throws(PlaceFileFault) -> RouteDefinition {
        do throws(ImportFault) {
            let file = try ImportFile(path: path)
            guard case .gpx = try PlaceFileFormat(file) else {
                throw ImportFault(.unsuitable("not a GPX file; name one with a track or route"))
            }
            return try GPXRoute.read(file)
        } catch {
            throw error.at(path)
        }
    }
}
