import BackgrounderAPI
import ControlServer
import FoundationEssentials
import LocationUpdates
import StateStore

/// Lines of the history for maps.
struct TrackLines {
    let store: StateStore

    /// Answers `GET /v1/track/line`.
    func line(_ request: RouteRequest<Empty>) async throws -> TrackLine {
        let (since, until) = (try request.time("since"), try request.time("until"))
        let trip = try request.query("trip").map { text throws(WireError) in
            guard let trip = Int(text) else {
                throw WireError(.invalid, "trip=\(text) is not a trip id", hint: "use a whole number")
            }
            return trip
        }
        let builder = TrackLineBuilder(zoom: try Self.zoom(request), box: try Self.box(request))
        do {
            let full = try await store.positions(ofTrip: trip, since: since, until: until, into: builder) {
                line,
                position in
                line.add(
                    latitude: position.latitude,
                    longitude: position.longitude,
                    startsSegment: position.startsSegment
                )
            }
            guard var full else {
                throw WireError(.notFound, "no trip \(trip ?? 0)", hint: "`backgrounder track trips` lists them")
            }
            return full.finish()
        } catch let failure as StorageFailure where failure.kind == .damaged {
            return try await readableLine(builder, trip, since, until)
        }
    }

    /// Returns the line of the points that can be read.
    private func readableLine(
        _ builder: TrackLineBuilder,
        _ trip: Int?,
        _ since: Date?,
        _ until: Date?
    ) async throws -> TrackLine {
        var builder = builder
        let pages =
            if let trip {
                try await store.history(ofTrip: trip, since: since, until: until)
            } else {
                store.history(since: since, until: until)
            }
        guard let pages else { return builder.finish() }
        for try await page in pages {
            for location in page {
                builder.add(
                    latitude: location.latitude,
                    longitude: location.longitude,
                    startsSegment: location.segmentStart == true
                )
            }
        }
        return builder.finish()
    }

    private static func zoom(_ request: RouteRequest<Empty>) throws(WireError) -> Double {
        guard let text = request.query("zoom") else { return TrackLineBuilder.mostZoom }
        guard let zoom = Double(text), (0...TrackLineBuilder.mostZoom).contains(zoom) else {
            throw WireError(.invalid, "zoom=\(text) is out of range", hint: "use 0 to 20")
        }
        return zoom
    }

    private static func box(_ request: RouteRequest<Empty>) throws(WireError) -> MapBox? {
        guard let text = request.query("bbox") else { return nil }
        let values = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) ?? .nan }
        let box =
            values.count != 4
            ? nil
            : MapBox(minLongitude: values[0], minLatitude: values[1], maxLongitude: values[2], maxLatitude: values[3])
        guard let box else {
            throw WireError(
                .invalid,
                "bbox=\(text) is not a box",
                hint: "use the minimum longitude, minimum latitude, maximum longitude, maximum latitude in degrees"
            )
        }
        return box
    }
}
