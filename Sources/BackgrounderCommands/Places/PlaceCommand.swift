import ArgumentParser
import BackgrounderAPI
import SystemSupport

/// `backgrounder place`: places, and what happened at them.
struct PlaceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "place",
        abstract: "Manage places, and show when the machine entered and left them.",
        discussion: """
            A place is a circle, an area or a line with a width. While location updates \
            are on, the service stores an event when the machine enters, leaves or passes \
            one. Without a subcommand, runs `place list`.

            EXAMPLES
              backgrounder place add Harbour --at 54.3233,10.1394 --radius 80
              backgrounder place import stops.geojson --replace
              backgrounder place near 54.32,10.14 --within 2km
              backgrounder place log --since today
            """,
        subcommands: [
            Add.self, Import.self, List.self, Show.self, Near.self, Inside.self, Remove.self, Simulate.self, Rules.self,
            RouteCommands.self, Log.self, Replay.self,
        ],
        defaultSubcommand: List.self
    )

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a circle, and print its id.",
            discussion: """
                With --course, the place counts only for a machine that comes from the right \
                side: a stop on one side of the road. Areas and lines are imported from a file.

                EXAMPLES
                  backgrounder place add Harbour --at 54.3233,10.1394 --radius 80
                  backgrounder place add "Market, inbound" --at 54.32,10.13 --course 270
                """
        )
        @Argument(help: "Name of your choice.") var name: String
        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("Centre in degrees, such as 54.3233,10.1394.", valueName: "lat,lon"),
            transform: parsePosition
        )
        var at: Coordinate
        @Option(help: ArgumentHelp("Radius.", valueName: "metres"), transform: parseLength)
        var radius: Double = 50
        @Option(help: ArgumentHelp("Course of a machine that arrives, in degrees.", valueName: "deg"))
        var course: Double?
        @Option(help: ArgumentHelp("How far the course may differ (default 60).", valueName: "deg"))
        var tolerance: Double?
        @Option(help: ArgumentHelp("Tag; may be repeated.", valueName: "tag"))
        var tag: [String] = []
        @Option(help: ArgumentHelp("Property; may be repeated.", valueName: "key=value"))
        var property: [String] = []
        @Flag(help: "Replace the place of this name.")
        var replace = false
        @OptionGroup var reading: ReadingOptions

        private var request: PlaceRequest {
            get throws {
                var properties: [String: String] = [:]
                for text in property {
                    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    guard parts.count == 2, !parts[0].isEmpty else {
                        throw ValidationError("\(text.debugDescription) is not a property; use KEY=VALUE")
                    }
                    properties[String(parts[0])] = String(parts[1])
                }
                return PlaceRequest(
                    name: name,
                    shape: .circle(center: at, radius: radius),
                    tags: tag.isEmpty ? nil : tag,
                    properties: properties.isEmpty ? nil : properties,
                    course: course,
                    tolerance: tolerance,
                    replace: replace ? true : nil
                )
            }
        }

        func validate() throws {
            if let problem = try request.definition.problem { throw ValidationError(problem) }
        }

        func run() async throws {
            let place = try await reading.client.call(Routes.addPlace, body: try request)
            try reading.show(place) { String($0.id) }
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Import places from GeoJSON, GPX, CSV, OwnTracks waypoints or GTFS.",
            discussion: """
                The places belong to a source, which is the name of the file unless --source \
                says otherwise. Places that the source has already are updated; with --replace, \
                those that the file does not have are removed. If the file is faulty, nothing \
                changes.

                EXAMPLES
                  backgrounder place import stops.geojson
                  backgrounder place import gtfs.zip --source city --replace
                """
        )
        @Argument(help: "File with places.", completion: .file()) var file: String
        @Option(help: ArgumentHelp("Name of the source.", valueName: "name")) var source: String?
        @Flag(help: "Remove the places of the source that the file does not have.") var replace = false
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let request = PlaceImportRequest(
                path: RuntimePaths.absolute(file),
                source: source,
                replace: replace ? true : nil
            )
            let result = try await reading.client.call(Routes.importPlaces, body: request, patience: .seconds(600))
            try reading.show(result) {
                "\($0.added) added, \($0.changed) changed, \($0.removed) removed, \($0.unchanged) unchanged"
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a place.",
            discussion: """
                EXAMPLES
                  backgrounder place show Harbour
                  backgrounder place show 7 --format json
                """
        )
        @Argument(help: "Name or id.", completion: NameCompletion.places) var place: String
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try reading.show(try await reading.client.place(place)) { $0.details.joined(separator: "\n") }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove places; their events stay.",
            discussion: """
                EXAMPLES
                  backgrounder place remove Harbour
                  backgrounder place remove 7 8
                """
        )
        @Argument(help: ArgumentHelp("Names or ids.", valueName: "place"), completion: NameCompletion.places)
        var places: [String]
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            var found: [Place] = []
            for place in places { found.append(try await reading.client.place(place)) }
            for place in found { _ = try await reading.client.call(Routes.removePlace, id: place.id) }
            try reading.confirm("removed \(counted(found.count, "place"))")
        }
    }

    struct Log: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log",
            abstract: "Print what happened at the places, oldest first.",
            discussion: """
                \(HistoryRange.times)

                EXAMPLES
                  backgrounder place log
                  backgrounder place log --place Harbour --since 7d --format json
                """
        )
        @Option(
            help: ArgumentHelp("Only events from this time on.", valueName: "time"),
            transform: PointInTime.parse
        )
        var since: PointInTime?
        @Option(help: ArgumentHelp("Only events before this time.", valueName: "time"), transform: PointInTime.parse)
        var until: PointInTime?
        @Option(
            help: ArgumentHelp("Only events at the place of this name.", valueName: "name"),
            completion: NameCompletion.places
        )
        var place: String?
        @Option(
            name: .customShort("n"),
            help: ArgumentHelp("The newest events, at most 1000 (default 100).", valueName: "number"),
            transform: wholeNumber("1 to \(Routes.mostPlaces)")
        )
        var count: Int?
        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            try PointInTime.check(since: since, until: until)
            guard (1...Routes.mostPlaces).contains(count ?? 1) else {
                throw ValidationError("-n \(count ?? 0) is out of range; use 1 to \(Routes.mostPlaces)")
            }
        }

        func run() async throws {
            let query = [
                since.map { ("since", ISO8601.string($0.date)) }, until.map { ("until", ISO8601.string($0.date)) },
                place.map { ("place", $0) }, count.map { ("last", String($0)) },
            ].compactMap(\.self)
            let events = try await reading.client.call(Routes.placeEvents, query: query)
            try reading.show(events) { PlaceEventTable.render($0) }
        }
    }
}

extension PlaceCommand {
    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replay",
            abstract: "Run a recording past the places of a file, without a service.",
            discussion: """
                FILE is a GPX file, or gpsd-log:FILE with gpsd's JSON lines. Prints the events; the \
                options can explain each decision, or compare the events with expected ones.

                EXAMPLES
                  backgrounder place replay walk.gpx --places tour.geojson
                  backgrounder place replay walk.gpx --places tour.geojson --explain
                  backgrounder place replay walk.gpx --places tour.geojson --rules tour.yaml
                  backgrounder place replay walk.gpx --places tour.geojson --format json \\
                    > walk.events.json
                  backgrounder place replay walk.gpx --places tour.geojson \\
                    --expect walk.events.json
                """
        )

        @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The file and the options."))
        var arguments: [String] = []

        func run() async throws {
            try Launcher.exec(["place-replay"] + arguments)
        }
    }
}

extension Client {
    /// Returns the place with this id or name.
    ///
    /// - Throws: ``CommandFailure`` with the exit status 4 if there is none, or several of that name.
    func place(_ text: String) async throws -> Place {
        let named = try await call(Routes.places, query: [("name", text)])
        if named.count == 1 { return named[0] }
        if named.isEmpty, let id = Int(text) { return try await call(Routes.place, id: id) }
        guard !named.isEmpty else {
            throw CommandFailure(
                "no place \(text.withoutControlCharacters); `backgrounder place list` lists them",
                exitCode: 4
            )
        }
        let ids = named.map { String($0.id) }.joined(separator: ", ")
        throw CommandFailure("there are \(named.count) places of that name; use one of the ids \(ids)", exitCode: 4)
    }
}
