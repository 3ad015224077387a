import ArgumentParser
import BackgrounderAPI
import SystemSupport

extension PlaceCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the places.",
            discussion: """
                EXAMPLES
                  backgrounder place list --tag stop
                  backgrounder place list --format geojson > places.geojson
                """
        )
        @Option(help: ArgumentHelp("Only places with this tag.", valueName: "tag")) var tag: String?
        @Option(help: ArgumentHelp("Only places of this source.", valueName: "name")) var source: String?
        @OptionGroup var service: ServiceOptions
        @Option(help: "Output format: table for people, json and geojson for programs.")
        var format = PlaceFormat.table

        func run() async throws {
            var places: [Place] = []
            while true {
                let query = [tag.map { ("tag", $0) }, source.map { ("source", $0) }].compactMap(\.self)
                let page = try await service.client.call(
                    Routes.places,
                    query: query + [("after", String(places.last?.id ?? 0))]
                )
                places += page
                if page.count < Routes.mostPlaces { break }
            }
            switch format {
            case .json: try Output.json(places)
            case .geojson: try Output.json(PlaceCollection(places))
            case .table: try Output.print(PlaceTable.render(places))
            }
        }
    }

    struct Near: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "near",
            abstract: "List the places around a position, the nearest first.",
            discussion: """
                EXAMPLES
                  backgrounder place near 54.32,10.14
                  backgrounder place near 54.32,10.14 --within 2km
                """
        )
        @Argument(
            parsing: .allUnrecognized,
            help: ArgumentHelp("Position in degrees, such as 54.32,10.14.", valueName: "lat,lon")
        )
        var position: [String] = []
        @Option(
            help: ArgumentHelp("Greatest distance, such as 500 or 2km.", valueName: "distance"),
            transform: parseLength
        )
        var within: Double = 1000
        @OptionGroup var reading: ReadingOptions

        private var center: Coordinate {
            get throws {
                let words = position.withoutTerminator
                guard words.count == 1 else { throw ValidationError("name one position, such as 54.32,10.14") }
                return try parsePosition(words.first ?? "")
            }
        }

        func validate() throws { _ = try center }

        func run() async throws {
            let center = try center
            let places = try await reading.client.call(
                Routes.places,
                query: [("near", "\(center.latitude),\(center.longitude)"), ("within", "\(within)")]
            )
            try reading.show(places) { PlaceTable.render($0, empty: "No places within \(within.metres).") }
        }
    }

    struct Inside: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "inside",
            abstract: "List the places that the machine is inside of.",
            discussion: """
                EXAMPLE
                  backgrounder place inside
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let places = try await reading.client.call(Routes.places, query: [("inside", "1")])
            try reading.show(places) { PlaceTable.render($0, empty: "Inside of no place.") }
        }
    }
}

/// The formats of a list of places.
enum PlaceFormat: String, FixedWord {
    case table, json, geojson
}

/// Parses `LATITUDE,LONGITUDE`.
@Sendable func parsePosition(_ text: String) throws -> Coordinate {
    guard let position = Coordinate(text) else {
        throw ValidationError("\(text.debugDescription) is not a position; use LATITUDE,LONGITUDE, such as 54.32,10.14")
    }
    return position
}

/// Parses a length above 0 in metres, or with the unit m or km.
@Sendable func parseLength(_ text: String) throws -> Double {
    let units = [("km", 1000.0), ("m", 1.0), ("", 1.0)]
    let (suffix, factor) = units.first { text.lowercased().hasSuffix($0.0) } ?? ("", 1)
    guard let value = Double(text.dropLast(suffix.count)), value > 0, value * factor <= 1_000_000 else {
        throw ValidationError(
            "\(text.debugDescription) is not a length; use more than 0 and up to 1000km, such as 500 or 2km"
        )
    }
    return value * factor
}
